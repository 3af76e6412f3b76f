"""Which servers are written down, whose they are, and which of them is used."""
