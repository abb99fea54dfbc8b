"""A whole flight with no account: the real CLI, a simulated model, a scratch repository."""
