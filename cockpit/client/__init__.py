"""Asking the supervisor: over its socket, or from memory for screens without a supervisor."""
