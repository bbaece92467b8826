"""One self-contained HTML file: the page kit, the document, and for those without scripts what matters most of it."""

from __future__ import annotations

import gzip
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.reports.escape import escape_html
from multilang_cli.reports.formats.registry import ReportError
from multilang_cli.reports.html.static import static_part

if TYPE_CHECKING:
    from multilang_cli.reports.html.document import PageDocument

KIT = Path(__file__).parent / "kit"
"""Where the built kit lies (``page_kit/`` has its sources)."""
_LEVEL = 6
_DATA_TYPE = "application/octet-stream"


class Kit(NamedTuple):
    """The script and the style of every page."""

    script: str
    style: str


class KitError(ReportError):
    """The page kit can't be used: a sentence."""


def load_kit(folder: Path = KIT) -> Kit:
    """The kit in `folder`. Raises KitError if it is not there, or can't stand inside a page."""
    try:
        kit = Kit(*((folder / name).read_bytes().decode() for name in ("page.js", "page.css")))
    except (OSError, UnicodeDecodeError) as error:
        raise KitError(f"the page kit can't be read: {error}") from None
    for text, end in ((kit.script, "</script"), (kit.style, "</style")):
        # A browser makes LF of CR before it takes the hash.
        if end in text.lower() or "<!--" in text or "\r" in text or "\0" in text:
            raise KitError(f"the page kit in {folder} can't stand inside a page: it has {end}, <!--, CR or NUL")
    return kit


def render(document: PageDocument, kit: Kit) -> str:
    """The page: pure, the same for the same document and kit."""
    title = escape_html(document.title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{content_security_policy(kit)}">\n'
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{kit.style}</style>\n</head>\n<body>\n"
        f"{static_part(document)}"
        f'<script type="{_DATA_TYPE}" id="document">{packed(document)}</script>\n'
        f"<script>{kit.script}</script>\n</body>\n</html>\n"
    )


def content_security_policy(kit: Kit) -> str:
    """The page's policy on what it may load and run: its own script and style, by their hashes, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(kit.script)}; style-src {_hash(kit.style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def packed(document: PageDocument) -> str:
    """The document as JSON, compressed, in base64."""
    return b64encode(gzip.compress(msgspec.json.encode(document), _LEVEL, mtime=0)).decode()


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
