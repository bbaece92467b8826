"""Text files that people write a line an entry, with ``#`` comments: read, and a line parted from its comment."""

from __future__ import annotations

from pathlib import Path

from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.subject.config import ConfigError


def read_text(lead: str, name: str) -> str:
    """The text of the file `name`. Raises ConfigError that begins with `lead`."""
    try:
        return file_text(Path(name))
    except OSError as error:
        raise ConfigError(f"{lead}{name}: can't be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{lead}{name}: byte {error.start} is no UTF-8.") from None
    except TextError as error:
        raise ConfigError(f"{lead}{error}.") from None


def parted(line: str) -> tuple[str, str]:
    """Split a line into its text and its comment, both stripped, the comment without its ``#``."""
    said, _, comment = line.partition("#")
    return said.strip(), comment.strip()
