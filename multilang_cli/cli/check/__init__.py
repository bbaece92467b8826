"""Commands that play cases to a component or a host, or measure one."""
