"""Sums of a run: known failures, causes, repeats, refusals."""
