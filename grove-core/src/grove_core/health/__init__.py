"""What can silently go wrong: pure judgements over facts, and what gathers the facts.

Every module here has one idea: the facts as a frozen class, ``gather_…`` that collects them without
changing anything, and ``judge_…`` that turns them into checks and looks at nothing else.
"""
