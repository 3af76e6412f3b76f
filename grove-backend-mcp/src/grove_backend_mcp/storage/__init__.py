"""What is kept on this side of a server."""
