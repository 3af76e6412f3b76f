"""Routing learnings to memory backends, and the outbox for what could not be delivered."""
