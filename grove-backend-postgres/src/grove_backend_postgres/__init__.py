"""A PostgreSQL database as a memory backend of grove."""
