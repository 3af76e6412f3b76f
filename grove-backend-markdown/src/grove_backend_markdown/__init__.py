"""grove's built-in memory backend: learnings in a markdown file that people read and review."""
