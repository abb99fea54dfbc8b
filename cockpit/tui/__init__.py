"""The part that shows and asks, with no facts of its own. Only this floor knows Textual."""
