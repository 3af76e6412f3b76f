"""Ticket systems for grove: one module each, and the shell understanding that they share."""
