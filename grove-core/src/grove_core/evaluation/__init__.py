"""Measuring retrieval on collections of learnings, queries and judgments."""
