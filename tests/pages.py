"""Pages as data, for tests: recordings written by hand, judged, made a document; what a page file carries."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.judging.linting import judge_transcripts, lint_result
from multilang_cli.reports.html.keeping import PAGE_EVENTS
from multilang_cli.reports.html.page import document_of
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter
from tests import notation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import RunResult

ACKED = """\
@ 0.5
> {"id":"7","comp":"sentences","stream":"default","task":2,"tuple":["snow white"]}
@ 0.6
< {"command":"emit","anchors":["7"],"tuple":["snow",1],"need_task_ids":false}
< {"command":"emit","anchors":["7"],"tuple":["white",1],"need_task_ids":false}
@ 0.75
< {"command":"ack","id":"7"}
"""
TWICE = f'{ACKED}@ 0.8\n< {{"command":"ack","id":"7"}}\n'


def record(path: Path, events: Iterable[Event], kind: Kind = "bolt", **header: Any) -> Path:
    """A transcript of `events`."""
    changes = header.pop("profile", None)
    known = {"conv": path.stem, "started_at": "2026-11-21T12:00:00.000+00:00", "argv": ("python3", "bolt.py")}
    with TranscriptWriter(path, Header(profile=example_profile(kind, changes), **{**known, **header})) as writer:
        for event in events:
            writer.write(event)
    return path


def recorded(path: Path, text: str, kind: Kind = "bolt", **header: Any) -> Path:
    """A transcript of a conversation in the notation of rules."""
    return record(path, notation.parse(text), kind, **header)


def judged(paths: Sequence[Path]) -> RunResult:
    """What lint makes of them."""
    return lint_result(judge_transcripts(paths, load_rulebook()), strict=False)


def document(*paths: Path, events: int = PAGE_EVENTS) -> dict[str, Any]:
    """The page document of transcripts, as a page carries it."""
    found: dict[str, Any] = json.loads(msgspec.json.encode(document_of(judged(paths), load_rulebook(), events)))
    return found


def section(page: dict[str, Any], id_: str) -> dict[str, Any]:
    """One section of a page document."""
    [found] = [each for each in page["sections"] if each["id"] == id_]
    assert isinstance(found, dict)
    return found


def texts(value: Any) -> list[str]:
    """Every text in a JSON value, keys apart."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts(part)]


class PageFile(HTMLParser):
    """A page file as a browser takes it apart: `tags` with attributes, and the text in each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        tag = self.tags[-1][0] if self.tags else ""
        if tag in self.inside and self.cdata_elem == tag:
            self.inside[tag].append(data)

    @property
    def carried(self) -> dict[str, Any]:
        """The document."""
        found: dict[str, Any] = json.loads(gzip.decompress(b64decode(self.inside["script"][0])))
        return found
