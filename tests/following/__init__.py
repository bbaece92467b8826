"""Pages that tests follow as a reader does: what is typed, in which folder, and what is shown."""
