"""Conversations on disk: written, read, redacted."""
