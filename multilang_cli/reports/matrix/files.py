"""The matrix as files in a folder, and the data among them read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.reports.escape import escape_json
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.reports.matrix.badge import badge
from multilang_cli.reports.matrix.markdown import BADGES, to_markdown
from multilang_cli.reports.matrix.model import Matrix
from multilang_cli.reports.matrix.page import to_html

if TYPE_CHECKING:
    from pathlib import Path

DATA, TABLE, PAGE = "matrix.json", "matrix.md", "index.html"


def write_matrix(matrix: Matrix, folder: Path, *, brief: bool) -> None:
    """Write them; the page only if it is not to be `brief`. Raises OSError, KitError."""
    texts = texts_of(matrix) | ({} if brief else {PAGE: to_html(matrix)})
    for name, text in texts.items():
        write_whole(folder / name, text.encode("utf-8", "backslashreplace"))


def texts_of(matrix: Matrix) -> dict[str, str]:
    """Data, table and badges by their paths in the folder."""
    plain = json.dumps(msgspec.to_builtins(matrix), ensure_ascii=False, indent=1)
    badges = {f"{BADGES}/{library.id}.svg": badge(matrix, library) for library in matrix.libraries}
    return {DATA: escape_json(plain) + "\n", TABLE: to_markdown(matrix), **badges}


def read_matrix(folder: Path) -> Matrix:
    """The data in a folder. Raises OSError, msgspec.MsgspecError."""
    try:
        return msgspec.json.decode(file_text(folder / DATA, "utf-8"), type=Matrix)
    except RecursionError:
        raise msgspec.DecodeError("nested too deep") from None
    except (TextError, UnicodeDecodeError) as error:
        raise msgspec.DecodeError(str(error)) from None
