"""The audit: what became of every tuple of a cluster, from its recordings, on Spark."""
