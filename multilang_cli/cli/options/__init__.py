"""Tables of options that several commands have."""
