"""Rules of a library's testee: another role of the judge."""
