"""What hooks and commands have in common: moving the gate, reflecting, choosing what to show."""
