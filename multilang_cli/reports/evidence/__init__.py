"""Evidence bundles: recordings and their findings in one file."""
