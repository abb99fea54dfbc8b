"""The demo, which needs no account: real CLIs, a simulated model and a scratch repository."""
