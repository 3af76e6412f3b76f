"""What is kept of event logs and learnings, so that numbers need not be counted anew each time.

Nothing here imports attrs or pluggy: ``grove stats --json`` answers within a few times what
starting Python costs.
"""
