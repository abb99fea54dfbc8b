"""Functions that turn the model into rows, text and numbers. No Textual, no I/O."""
