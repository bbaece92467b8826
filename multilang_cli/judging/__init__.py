"""Recordings read and judged."""
