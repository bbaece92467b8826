"""Judges hosts: whatever plays Storm's side to a component. A scripted component sees what they say."""
