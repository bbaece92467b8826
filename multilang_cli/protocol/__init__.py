"""What the multilang protocol is: bytes, frames, messages, the handshake and the judge. Pure: no I/O, no clock."""
