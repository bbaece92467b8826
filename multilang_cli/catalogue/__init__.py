"""Loads the catalogue: rules, Storm versions, cases and schemas, from package data or a clone."""
