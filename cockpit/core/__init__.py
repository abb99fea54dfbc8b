"""What is true of readings, bands, documents and handoffs: no I/O, no clock, no async."""
