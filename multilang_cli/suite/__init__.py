"""The conformance suite: configuration, selection, the case runner and the verdict."""
