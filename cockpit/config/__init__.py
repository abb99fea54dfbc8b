"""The settings: their schema, and reading and writing configuration files."""
