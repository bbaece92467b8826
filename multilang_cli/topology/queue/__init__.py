"""A queue with Kestrel's semantics, and the shell spout that reads it: a spout's death loses nothing."""
