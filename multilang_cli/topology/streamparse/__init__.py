"""Projects of streamparse: their topologies, which are Python classes, as Flux files."""
