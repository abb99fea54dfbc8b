"""Clients of one supervisor, and of several supervisors as one."""
