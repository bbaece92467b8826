"""The questions by which a component is told bolt from spout, and its answers."""
