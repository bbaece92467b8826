"""The commands of a session by hand: a table a module, joined in ``every``."""
