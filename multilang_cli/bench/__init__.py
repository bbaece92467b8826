"""Benchmark of a component, judged by the same code as in a run: rates, round trips, heartbeats under load, cost."""
