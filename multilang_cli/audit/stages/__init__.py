"""The stages of the audit: each makes tables of tables, and can be used alone from PySpark."""
