"""The tap between a real Storm and its component: bytes are passed on first, and judged later."""
