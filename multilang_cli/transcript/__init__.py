"""Conversations on disk: write, read, redact."""
