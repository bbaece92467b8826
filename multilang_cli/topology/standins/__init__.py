"""Shell components that do what some of Storm's Java classes do, so that Storm's own Flux examples run without Java."""
