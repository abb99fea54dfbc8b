"""The supervisor: one process per state folder that watches agents and hands off jobs."""
