"""The mapping of a server: which tool is called with what, and what the answer means."""
