"""A memory backend of grove; see ``plugin``."""
