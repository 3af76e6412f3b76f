"""Values to text and back: sessions, learnings, events and what commands keep."""
