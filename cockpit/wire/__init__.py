"""What supervisor and clients say to each other, versioned. Unknown fields are ignored."""
