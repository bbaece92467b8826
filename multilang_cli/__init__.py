"""mlcheck: a debugger and conformance tester for Apache Storm's multilang protocol."""

__version__ = "0.2.0"
