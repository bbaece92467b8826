"""Rules, causes, clauses and lines of a worker's log, explained on a page."""
