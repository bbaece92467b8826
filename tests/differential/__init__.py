"""The differential: random outputs played to real Storm and to mlcheck, and what the two make of them compared.

``python -m tests.differential --help``. Needs what the oracle needs: a JDK and Maven.
"""
