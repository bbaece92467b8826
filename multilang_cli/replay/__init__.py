"""A recording played to a component again, and two conversations of the same input compared.

Pure: ``received``, ``script``, ``identities``, ``said``, ``matching``, ``comparison``. What touches a process is in
``player``, what reads files in ``recording``.
"""
