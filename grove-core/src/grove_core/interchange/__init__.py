"""Other programs' notes and lessons as raw entries, and learnings as text. No I/O, no clock."""
