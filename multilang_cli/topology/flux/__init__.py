"""Storm's Flux files: YAML that says which components a topology has, and how they are wired."""

from multilang_cli.topology.flux.errors import FluxError, NeedsJavaError
from multilang_cli.topology.flux.reading import FluxFile, read_flux
from multilang_cli.topology.flux.substitution import read_properties

__all__ = ["FluxError", "FluxFile", "NeedsJavaError", "read_flux", "read_properties"]
