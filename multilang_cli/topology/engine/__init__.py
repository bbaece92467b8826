"""Runs a topology: a pure core of executors, queues and ackers, and one event loop over the processes of its tasks."""
