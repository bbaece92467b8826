"""The audit's commands: what the command line says, and what people see."""
