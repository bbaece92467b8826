"""The audit of what is still being recorded: its state, its alerts, and who is told them."""
