"""The command ``mlcheck``. Answers ``--version`` before anything else is imported."""

from __future__ import annotations

import sys

from multilang_cli import __version__
from multilang_cli.streams import open_closed


def main() -> int:
    """Do what the command line says; the exit code."""
    open_closed()
    arguments = sys.argv[1:]
    if arguments[:1] == ["--version"]:
        sys.stdout.write(f"mlcheck {__version__}\n")
        return 0
    from multilang_cli.cli.dispatch import dispatch  # noqa: PLC0415 (nothing is imported before it is needed)

    return dispatch(arguments)


if __name__ == "__main__":
    sys.exit(main())
