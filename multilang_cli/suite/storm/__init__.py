"""Comparison of mlcheck with what real Storm did, as recorded."""
