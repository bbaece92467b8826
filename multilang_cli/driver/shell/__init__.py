"""Storm's side of a conversation: ShellBolt and ShellSpout, and the collectors that they hand emits to."""
