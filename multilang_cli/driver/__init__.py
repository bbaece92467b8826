"""Storm's side of the pipe: the process, and ShellBolt and ShellSpout as Storm plays them."""
