"""Java below Spark: what is kept of it from run to run."""
