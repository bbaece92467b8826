"""The formats of reports, and the table of them."""
