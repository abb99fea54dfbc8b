"""Examine another machine, and install cockpit there, with the host's own `connect` command."""
