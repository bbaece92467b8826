"""Libraries held against cases: the model, and what is made of it: a page, a table in markdown, badges."""
