"""Parts of an audit's page: the topology with what was lost in it, activity over time, cells of tables."""
