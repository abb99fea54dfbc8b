"""Functions from the model to rows, text and numbers. No Textual, no I/O."""
