"""The event log and the numbers derived from it."""
