"""Properties that must hold of every run of a topology, judged by its history alone. Pure."""
