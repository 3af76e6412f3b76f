"""The hooks: one module per event of the coding agent."""
