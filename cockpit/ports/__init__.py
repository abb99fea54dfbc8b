"""Protocols for everything that cockpit uses outside itself; `adapters/` implements them."""
