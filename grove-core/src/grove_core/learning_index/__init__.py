"""The index of a project's learnings: derived, disposable, and shared by all backends."""
