"""New components and testees, to begin with."""
