"""Tables of an audit as they stand in a folder: its manifest, and how they are read."""
