"""Commands that read a Flux file."""
