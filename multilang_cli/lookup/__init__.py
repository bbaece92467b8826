"""Look-ups: what mlcheck knows of rules, causes, cases, sentences and pages, and what it is set to, for people."""
