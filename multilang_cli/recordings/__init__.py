"""Recordings that the command line names: judged, and shown on a page or packed into a file."""
