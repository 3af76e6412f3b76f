"""Files on this side of a server: the record, the journal, cached learnings."""
