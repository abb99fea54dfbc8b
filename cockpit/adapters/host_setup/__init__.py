"""Look at another machine, and install cockpit there, over the host's own `connect` command."""
