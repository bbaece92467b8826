"""The terminal as every command needs it: exit codes, output, progress, interrupts."""
