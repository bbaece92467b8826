"""Faults: what goes wrong in a run on purpose, by plan, and how it is healed."""
