"""From an agent's JSON to accepted learnings: the stages of the pipeline, in pure functions."""
