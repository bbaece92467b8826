"""Small topologies for tests: their components as programs, and what a run of them left."""
