"""The judge: events in, findings out. Its state, its transitions, and the rules of spouts and bolts."""
