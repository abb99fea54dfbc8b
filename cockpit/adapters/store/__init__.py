"""The supervisor's memory, in SQLite."""
