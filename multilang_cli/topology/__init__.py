"""Whole topologies on one machine: Flux files, groupings, the local engine with its ackers, faults, checkers."""
