"""What is stored on this side of a server."""
