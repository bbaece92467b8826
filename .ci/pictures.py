"""Makes the pictures of the docs: what mlcheck shows on a terminal, as SVG.

    python3 dev.py pictures

A test compares the words in them with what mlcheck says today.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
COLUMNS = 82
FAILURE = "mlcheck run my_bolt.py"
ACK = '    send({"command": "ack", "id": message["id"]})\n'
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> int:
    """Make every picture."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        said = failure(Path(folder))
    (PICTURES / "failure.svg").write_text(svg_of(f"$ {FAILURE}\n{said}"), encoding="utf-8")
    return 0


def failure(folder: Path) -> str:
    """The screen of a bolt that acks each tuple twice, with its colours."""
    example = ROOT / "examples" / "python" / "split_bolt.py"
    text = example.read_text(encoding="utf-8")
    if text.count(ACK) != 1:
        raise SystemExit(f"{example} does not ack in one place any more")
    (folder / "my_bolt.py").write_text(text.replace(ACK, ACK * 2), encoding="utf-8")
    shutil.copymode(example, folder / "my_bolt.py")
    words = [sys.executable, "-m", "multilang_cli", *shlex.split(FAILURE)[1:], "--color", "always"]
    environment = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "PYTHONUNBUFFERED"}}
    done = subprocess.run(
        words,
        cwd=folder,
        env={**environment, "COLUMNS": "80", "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout


def svg_of(ansi: str) -> str:
    """Text of a terminal as a picture that loads nothing from elsewhere."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(ansi))
        svg = console.export_svg(title="mlcheck", unique_id="mlcheck")
    return FONTS.sub("", svg).replace("Fira Code", "DejaVu Sans Mono")


if __name__ == "__main__":
    sys.exit(main())
