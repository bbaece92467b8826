"""``mlcheck repl``: Storm played by hand. Commands are data (``table``), the edges are ``terminal`` and ``plain``."""
