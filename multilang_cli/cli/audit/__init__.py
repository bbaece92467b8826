"""Commands that work on Spark."""
