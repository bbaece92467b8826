"""The workbench: what people do with Storm and components beyond a run of the suite."""
