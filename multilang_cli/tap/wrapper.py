"""The stand-in for a component: one executable file that taps it, for topologies whose commands can't be changed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import multilang_cli
from multilang_cli.transcript.private import whole_file

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "# Written by mlcheck tap --write-wrapper"
LOOKED_AT = 64 * 1024
"""Characters of a file in which the mark is looked for: it stands above the command."""
_LONGEST_SHEBANG = 120
"""Characters of a shebang that every system reads."""

_TEXT = """\
{shebang}
{mark}: it taps COMMAND, to which its own arguments are added.
# Without mlcheck it becomes COMMAND, so that nothing depends on the tap.
import os
import signal
import sys

COMMAND = {command!r}
OPTIONS = {options!r}

sys.path.append({root!r})
try:
    from multilang_cli.__main__ import main
except ImportError:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execvp(COMMAND[0], COMMAND + sys.argv[1:])
sys.argv = ["mlcheck", "tap", *OPTIONS, "--", *COMMAND, *sys.argv[1:]]
sys.exit(main())
"""


def text(options: Sequence[str], command: Sequence[str], python: str = sys.executable) -> str:
    """The stand-in for `command`, tapped with these options of ``mlcheck tap``. `python`: what mlcheck runs with."""
    shebang = f"#!{python} -I"
    if " " in python or len(shebang) > _LONGEST_SHEBANG:
        # No shebang can name it; for sh this is a command, for Python a string.
        shebang = f"""#!/bin/sh\n'''exec' "{python}" -I "$0" "$@"\n'''"""
    root = str(Path(multilang_cli.__file__).parent.parent)
    return _TEXT.format(shebang=shebang, mark=MARK, command=list(command), options=list(options), root=root)


def _is_ours(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return MARK in file.read(LOOKED_AT)


def write(path: Path, content: str) -> None:
    """Write an executable file, whole or not at all. Raises FileExistsError for one that is no stand-in; OSError."""
    if path.exists() and not (path.is_file() and _is_ours(path)):
        raise FileExistsError(path)
    with whole_file(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(content)
        os.fchmod(file.fileno(), 0o755)
