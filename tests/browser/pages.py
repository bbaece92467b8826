"""A page file from the kit and any document, sound or not: as ``mlcheck report`` writes it, but for the static part."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from multilang_cli.reports.html.page_file import content_security_policy, load_kit

if TYPE_CHECKING:
    from pathlib import Path

STATIC = "<main><h1>The page without its script</h1></main>"


def packed(document: Any) -> str:
    """The document as the page carries it."""
    return b64encode(gzip.compress(json.dumps(document).encode(), 1, mtime=0)).decode()


def page_file(path: Path, document: Any, *, carried: str | None = None) -> Path:
    """Write the page of `document` to `path`; `carried` is embedded instead of it, if given."""
    kit = load_kit()
    data = packed(document) if carried is None else carried
    path.write_text(
        '<!doctype html><html lang="en"><head>'
        f'<meta http-equiv="Content-Security-Policy" content="{content_security_policy(kit)}">'
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>page</title>'
        f"<style>{kit.style}</style></head><body>{STATIC}"
        f'<script type="application/octet-stream" id="document">{data}</script>'
        f"<script>{kit.script}</script></body></html>",
        encoding="utf-8",
    )
    return path
