"""Topologies at a terminal: what the commands read, run and show."""
