"""Clients of the supervisor: over its socket, and several supervisors as one."""
