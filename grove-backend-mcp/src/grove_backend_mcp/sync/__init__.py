"""Bringing learnings to a server, and taking in what it has."""
