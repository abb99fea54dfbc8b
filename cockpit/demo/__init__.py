"""The demo, which needs no account: the real CLI, a simulated model, a scratch repository."""
