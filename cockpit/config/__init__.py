"""What the pilot may choose, and how it is read and written."""
