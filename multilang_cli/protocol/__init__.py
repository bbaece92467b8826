"""The multilang protocol: bytes, frames, messages, the handshake and the judge. Pure: no I/O, no clock."""
