"""Runs of cases over a component: one, all, and on several Storm versions."""
