"""How fast a component is, judged by the same code as in a run: rates, round trips, heartbeats under load, its cost."""
