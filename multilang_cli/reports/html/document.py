"""The page document, as data: ``schemas/page.schema.json`` publishes its shape, every HTML page is made of it.

All texts stand here as they are to be shown: escaped by ``reports.escape``, on one line or on several.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from multilang_cli.protocol.words.verdicts import Fate, Level

VERSION = "1.0"

Tone = Literal["good", "warn", "bad", "muted", "plain"]
"""What something is worth."""

CHANNELS = ("in", "out", "err", "process", "control")
"""The channels of events by the numbers that stand for them."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    pass


def _tag(name: str) -> str:
    """The type of a section as it stands in the document: ``table`` of TableSection."""
    return name.removesuffix("Section").lower()


class Section(_Part, frozen=True, kw_only=True, tag_field="type", tag=_tag):
    """One part of the page. `id`: unique, of a-z, 0-9 and -; `note`: one sentence below the heading.

    `folded`: closed until the reader opens it, or a link leads there.
    """

    id: str
    title: str
    note: str = ""
    folded: bool = False


class FactsSection(Section, frozen=True, kw_only=True):
    """Labels and values."""

    rows: tuple[tuple[str, str], ...]


class SequenceStep(_Part, frozen=True, kw_only=True):
    """One message of a few: `side` is who said it; `mark`: this is the wrong one."""

    seq: int
    side: Literal["storm", "component", "process"]
    text: str
    mark: bool = False


class Text(Section, frozen=True, kw_only=True):
    """Paragraphs, the messages that matter, lines to be shown as they are, a command to be copied."""

    paragraphs: tuple[str, ...]
    sequence: tuple[SequenceStep, ...] = ()
    code: str = ""
    command: str = ""


class Cell(_Part, frozen=True, kw_only=True):
    """A cell with a tone or a link. `to`: SECTION or SECTION/SEQ; `value`: sorted by this, not by the text."""

    text: str
    tone: Tone | None = None
    to: str | None = None
    value: float | None = None


class SectionColumn(_Part, frozen=True, kw_only=True):
    """A column of a table."""

    name: str
    align: Literal["left", "right"] = "left"


class TableSection(Section, frozen=True, kw_only=True):
    """Rows of as many cells as there are columns."""

    columns: tuple[SectionColumn, ...]
    rows: tuple[tuple[str | float | Cell, ...], ...]


class MatrixColumn(_Part, frozen=True, kw_only=True):
    """A column of a matrix. `note`: a word below its name."""

    name: str
    note: str = ""


class MatrixCell(_Part, frozen=True, kw_only=True):
    """A cell of a matrix. `detail`: a sentence; `file`: the path of a page, from the folder of this one down."""

    text: str
    tone: Tone
    detail: str = ""
    file: str | None = None


class MatrixRow(_Part, frozen=True, kw_only=True):
    """A row: as many cells as there are columns, None for one that is empty. `detail`: a sentence on it."""

    name: str
    detail: str = ""
    cells: tuple[MatrixCell | None, ...]


class MatrixSection(Section, frozen=True, kw_only=True):
    """Many things held against many: a word a cell, the rows in groups."""

    corner: str
    columns: tuple[MatrixColumn, ...]
    groups: tuple[tuple[str, tuple[MatrixRow, ...]], ...]


class Axis(_Part, frozen=True, kw_only=True):
    """An axis of a plot. `log`: logarithmic, of the vertical one only."""

    label: str
    unit: str = ""
    log: bool = False


class Series(_Part, frozen=True, kw_only=True):
    """Points: `x`, `y` and `to`, where a click goes, are equally long."""

    name: str
    x: list[float]
    y: list[float]
    style: Literal["points", "line", "steps", "bars"]
    to: list[str | None] = []

    def __post_init__(self) -> None:
        assert len(self.x) == len(self.y) == (len(self.to) or len(self.x))  # noqa: S101 (an error of ours)


class Band(_Part, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Values of y, or of x, that mean something; a line where both edges are equal."""

    from_: float
    to: float
    label: str
    tone: Tone = "plain"
    along: Literal["x", "y"] = "y"


class Plot(Section, frozen=True, kw_only=True):
    """Numbers over numbers."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    bands: tuple[Band, ...] = ()


class GraphNode(_Part, frozen=True, kw_only=True):
    """A node of a graph."""

    id: str
    label: str
    detail: str = ""
    tone: Tone | None = None
    to: str | None = None


class Edge(_Part, frozen=True, kw_only=True, rename={"from_": "from"}):
    """An edge between two nodes, by their ids."""

    from_: str
    to: str
    label: str = ""
    tone: Tone | None = None


class Graph(_Part, frozen=True, kw_only=True):
    """Nodes and edges, from top to bottom or from left to right."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...]
    direction: Literal["TB", "LR"] = "TB"


class GraphStep(_Part, frozen=True, kw_only=True):
    """A step of a tuple tree. `ack_val`: after it, in hexadecimal with 0x; `node`: the id of the node it is about."""

    text: str
    ack_val: str | None = None
    to: str | None = None
    node: str | None = None
    tone: Tone | None = None


class Steps(Section, frozen=True, kw_only=True):
    """A tuple tree, played step by step."""

    graph: Graph
    steps: tuple[GraphStep, ...]


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Events, a list a column. `ch`, `kind`, `thread`: indexes, of no thread -1; `t` in seconds, `size` in bytes."""

    seq: list[int]
    t: list[float]
    ch: list[int]
    kind: list[int]
    head: list[str]
    text: list[str]
    size: list[int]
    thread: list[int]


class PinnedFate(_Part, frozen=True, kw_only=True):
    """The fate of a breach on some Storm versions, in words, and their errors."""

    versions: str
    fate: Fate
    error: str = ""


class PinnedFinding(_Part, frozen=True, kw_only=True):
    """A finding and its explanation. `seq`: None if its event is not shown."""

    seq: int | None
    rule: str
    title: str
    level: Level
    message: str
    related: tuple[int, ...] = ()
    clause: str = ""
    source: str = ""
    why: str = ""
    mend: str = ""
    fates: tuple[PinnedFate, ...] = ()


class VersionOutlook(msgspec.Struct, frozen=True, kw_only=True):
    """The fate of a conversation on one Storm version, and the event of it."""

    version: str
    fate: Fate
    seq: int | None
    sentence: str


class ConversationSection(Section, frozen=True, kw_only=True):
    """Everything that was said between Storm's side and one component, as a sequence diagram."""

    events: Columns
    kinds: tuple[str, ...]
    threads: tuple[str, ...]
    findings: tuple[PinnedFinding, ...]
    outlook: tuple[VersionOutlook, ...]


AnySection = FactsSection | Text | TableSection | MatrixSection | Plot | Steps | ConversationSection


class PageVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict in a word or two."""

    text: str
    tone: Tone


class PageDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A page. `made_at`: RFC 3339, in UTC; `subtitle`: the most important sentence."""

    page: str = VERSION
    title: str
    subtitle: str
    made_by: str
    made_at: str
    verdict: PageVerdict | None
    sections: tuple[AnySection, ...]
