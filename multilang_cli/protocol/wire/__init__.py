"""Bytes to frames and back, JSON to messages, and the handshake's context."""
