"""Options of a run, once flags, environment and file are put together. Plain values."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from multilang_cli.protocol.wire.context import Sample
from multilang_cli.protocol.words.messages import DEFAULT_STREAM
from multilang_cli.transcript.redact import Redactor

DEFAULT_SAMPLE: list[Any] = ["snow white and the seven dwarfs"]
"""What a bolt is fed when nobody gave a sample: one tuple of one field, `sentence`."""


ACCEPTS = ("ticks", "text", "large", "integers", "floats", "null", "nested", "empty", "arity")
"""What a component can promise to take besides tuples like its samples: ticks, and tuples of our own making.

text, large, integers, floats: a value replaced by another of its JSON type; null, nested: by one of another; empty: a
tuple without values; arity: with one more or fewer.
"""

SETTLES = ("by-limit", "on-tick", "on-next", "after-N", "unchecked")
"""When a component settles a tuple; N is a number of tuples."""
USUAL = SETTLES[0]
"""When it settles one if nobody declared it."""


class StreamDeclaration(msgspec.Struct, frozen=True):
    """An output stream as the user declares it: its fields, whether it is direct, a JSON Schema of its values."""

    fields: tuple[str, ...] = ()
    direct: bool = False
    schema: dict[str, Any] | None = None


class InputSource(msgspec.Struct, frozen=True):
    """A stream that a bolt subscribes to, as its user declares it: a component, its stream, the fields of its tuples.

    `fields` None: not told; then they are named after the values of its first sample. `samples`: tuples of this stream.
    `grouping`: as the topology context shows it; None: by shuffling.
    """

    component: str
    stream: str = DEFAULT_STREAM
    fields: tuple[str, ...] | None = None
    samples: tuple[list[Any], ...] = ()
    grouping: dict[str, Any] | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Its component and its stream."""
        return self.component, self.stream


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """The component under test, as flags and ``mlcheck.toml`` describe it.

    `command`: words, never a shell line. `samples`: values of tuples it takes, of its first source where none is named;
    empty, and none in `sources`: `made_up`, or the default sample if that is empty. `sources`: the streams it reads
    from; empty if nobody declared any. `streams`: None if nobody declared any. `limits`: seconds or bytes by name
    (`Deadline.waiting_for`, pid-file, grace, frame). `env`: added to the environment of a worker; `keep_env`: names of
    what stays in it as it is here.
    `task`: its task id. `accepts`: of `ACCEPTS`. `settles`: of `SETTLES`, "" if nobody declared it.
    `known_failures`: the path of the file that lists them. `testee`: its part, if it is a library's testee.
    """

    command: tuple[str, ...]
    kind: Literal["bolt", "spout", "auto"] = "bolt"
    name: str = ""
    conf: dict[str, Any] = {}
    env: dict[str, str] = {}
    keep_env: tuple[str, ...] = ()
    cwd: str | None = None
    samples: tuple[list[Any] | Sample, ...] = ()
    made_up: tuple[Any, ...] = ()
    sources: tuple[InputSource, ...] = ()
    streams: dict[str, StreamDeclaration] | None = None
    accepts: tuple[str, ...] = ()
    settles: str = ""
    features: tuple[str, ...] = ()
    limits: dict[str, float] = {}
    pid: Literal["own", "foreign"] = "own"
    task: int = 3
    metrics: dict[str, str] | None = None
    known_failures: str = ""
    testee: Literal["", "bolt", "basic", "batch", "spout"] = ""

    @property
    def settling(self) -> str:
        """When it settles a tuple, as declared or as most do."""
        return self.settles or USUAL


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of one component's run of the suite.

    `storm`: the version to play; ``all`` or several, parted by commas, until each is run for itself. `storm_required`:
    those of them whose verdicts count, parted by commas; all if it is empty.
    `include` and `exclude`: case id patterns (a dotted prefix, a glob, or a rule). `jobs`: cases played at once.
    `fail_fast`, `max_fail`: end at the first failure, at so many; 0: play all. `retries`: how
    often a case that fails is played again. `timeout`: seconds, for every limit that the component's own limits do not
    set; None: as patient as Storm is. `exhaustive`: play also the cases that could only show a hang
    again. `real_ticks`: ticks come as often as the component's conf says, not each second. `memory`: what the
    component's processes may hold, "" for a share of the machine. `record`: directory of transcripts; failing cases are
    kept, all with `record_all`. `suites`: files and folders with more cases. `write_known_failures`: the file to write
    what fails to, in place of reading the component's. `reproduce`: words of the command line that repeat this run,
    without the selection and the component.
    """

    storm: str = ""
    storm_required: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fail_fast: bool = False
    max_fail: int = 0
    jobs: int = 1
    retries: int = 0
    timeout: float | None = None
    memory: str = ""
    real_ticks: bool = False
    exhaustive: bool = False
    record: str = ".mlcheck/last"
    record_all: bool = False
    seed: int = 0
    strict: bool = False
    suites: tuple[str, ...] = ()
    write_known_failures: str = ""
    reproduce: tuple[str, ...] = ("mlcheck", "run")


def redactor_of(component: Component) -> Redactor:
    """The redactor of the secrets of a component in what is shown: those of its conf, environment and command."""
    return Redactor({"": [component.conf, component.env]}, words=component.command)
