"""Finding and ranking the learnings that fit the work at hand."""
