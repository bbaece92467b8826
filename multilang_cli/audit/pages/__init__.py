"""Parts of what an audit shows: its answer, the topology and its losses, activity over time, cells of tables."""
