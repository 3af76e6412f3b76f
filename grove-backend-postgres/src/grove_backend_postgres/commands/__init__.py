"""The commands of ``grove backends postgres``."""
