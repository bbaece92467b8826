"""Rules of a host, which plays Storm to a component: another role of the judge."""
