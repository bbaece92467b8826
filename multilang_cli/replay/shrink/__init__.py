"""Recordings made smaller, as long as they show the same finding."""
