"""Help for testing plugins."""
