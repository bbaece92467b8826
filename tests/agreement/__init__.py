"""The agreement: every recorded script of real Storm, on every version, against what mlcheck makes of it.

``python -m tests.agreement [NAME...]`` prints the table.
"""
