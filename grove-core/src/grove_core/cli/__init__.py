"""The command line: one module per command, loaded on demand."""
