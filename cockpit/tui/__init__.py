"""The full-screen interface. The only layer that imports Textual."""
