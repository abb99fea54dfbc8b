"""Protocols for everything outside of cockpit that it uses; `adapters/` implements them."""
