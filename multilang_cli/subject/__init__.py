"""The subject of a check: its command, how it is started, and what is declared of it, with where each came from."""
