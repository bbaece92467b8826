"""Cases as data, their selection, and the mutants that they kill."""
