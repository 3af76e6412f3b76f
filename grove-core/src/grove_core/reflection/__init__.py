"""From an agent's JSON to accepted learnings: the stages of the funnel, each a pure function."""
