"""Storm's side of a reading, version by version: its parsers, its collector, outlooks."""
