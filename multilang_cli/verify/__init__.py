"""Real Storm asked again (``mlcheck verify-storm``): the oracle's program built and played, verdicts compared."""
