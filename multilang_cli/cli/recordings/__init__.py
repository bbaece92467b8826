"""Commands that make, read, compare or play recordings."""
