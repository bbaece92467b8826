"""The child's side of the pipe, standard library only: a bolt and a spout loop, and the scripted player."""
