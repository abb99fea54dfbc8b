"""Protocols for the systems that cockpit uses: CLIs, tmux, git, processes. `adapters/` implements
these protocols."""
