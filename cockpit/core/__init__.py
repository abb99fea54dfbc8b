"""The rules for token counts, bands, documents and handoffs: no I/O, no clock, no async."""
