"""The messages between supervisor and clients, versioned. Unknown fields are ignored."""
