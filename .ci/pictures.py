"""Makes the pictures of the docs: what mlcheck shows on a terminal, as SVG, and a page as Chromium shows it.

    python3 dev.py pictures

Tests compare the words in them with what mlcheck says today. Those of the page stand beside its pictures, for no test
reads pixels.
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
sys.path.insert(0, str(ROOT))

from tests.browser.browser import Browser  # noqa: E402 (of this clone)

PICTURES = ROOT / "docs" / "pictures"
COLUMNS = 82
SIZE = (1000, 760)
"""Width and height of the picture of a page, in pixels."""
QUALITY = 60
SCHEMES = ("light", "dark")
FAILURE = "mlcheck run my_bolt.py"
PAGE = "mlcheck run -k bolt.settle.once --report html=report.html my_bolt.py"
ACK = '    send({"command": "ack", "id": message["id"]})\n'
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> int:
    """Make every picture."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        said = shown_by(FAILURE, Path(folder))
        shown_by(PAGE, Path(folder))
        browser = Browser(Path(folder))
        try:
            for scheme in SCHEMES:
                words = open_page(browser, Path(folder) / "report.html", scheme)
                (PICTURES / f"report-{scheme}.webp").write_bytes(browser.picture(QUALITY))
        finally:
            browser.close()
    (PICTURES / "failure.svg").write_text(svg_of(f"$ {FAILURE}\n{said}"), encoding="utf-8")
    (PICTURES / "report.txt").write_text(words, encoding="utf-8")
    return 0


def open_page(browser: Browser, page: Path, scheme: str) -> str:
    """Show a page as in its picture; its first words, with one number for all numbers."""
    browser.show_as(*SIZE, scheme)
    browser.driver.get(page.as_uri())
    words, mend, behind = browser.one(".page").text.partition("\nMend:")
    return re.sub(r"-?\d+", "N", words + mend + behind.partition("\n")[0]) + "\n"


def shown_by(line: str, folder: Path) -> str:
    """The screen of a command with a bolt that acks each tuple twice, with its colours."""
    example = ROOT / "examples" / "python" / "split_bolt.py"
    text = example.read_text(encoding="utf-8")
    if text.count(ACK) != 1:
        raise SystemExit(f"{example} does not ack in one place any more")
    (folder / "my_bolt.py").write_text(text.replace(ACK, ACK * 2), encoding="utf-8")
    shutil.copymode(example, folder / "my_bolt.py")
    words = [sys.executable, "-m", "multilang_cli", *shlex.split(line)[1:], "--color", "always"]
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
