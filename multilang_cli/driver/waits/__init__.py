"""Detection of who waits on whom, from what Linux tells of a component and its descendants."""
