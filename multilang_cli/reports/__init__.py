"""The result model, and every format it is shown in."""
