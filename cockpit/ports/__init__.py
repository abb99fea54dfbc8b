"""What cockpit needs of the world, as protocols; `adapters/` holds the world itself."""
