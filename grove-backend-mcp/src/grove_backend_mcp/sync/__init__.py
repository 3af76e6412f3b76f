"""The record on this side, what waits for the server, and how both are brought into line."""
