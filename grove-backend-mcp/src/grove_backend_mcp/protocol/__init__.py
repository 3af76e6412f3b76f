"""Learnings as servers are told of them, and as they answer."""
