"""The supervisor's database, in SQLite."""
