"""Storm's side of the pipe: the process, and ShellBolt and ShellSpout as Storm plays them.

A ``session`` is one component's process, the ``event_log`` that the judge reads, the queue before its stdin, and the
``script`` of what Storm does by itself. ``shell/`` has the scripts of bolts and spouts, and the collectors that they
hand emits to; ``waits/`` who waits on whom; ``reaper`` ends what is left.
"""
