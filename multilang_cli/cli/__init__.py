"""The mlcheck command: one thin module per command."""
