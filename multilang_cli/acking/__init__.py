"""Storm's ack framework: ids, ack vals, the acker, what a spout waits for, tuple trees. Pure: no I/O, no clock."""
