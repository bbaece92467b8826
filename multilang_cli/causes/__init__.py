"""Names the causes behind findings. Pure; what is looked for is data: ``conformance/causes/``, ``tracebacks.yaml``."""
