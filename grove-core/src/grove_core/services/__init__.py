"""What hooks and commands have in common: one module a use case."""
