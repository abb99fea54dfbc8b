"""Examine another machine, and install cockpit on it, with the host's own `connect` command."""
