"""Sources of a component: what its command comes to, its own files, and their lines."""
