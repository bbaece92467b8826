"""Files that would end the process, or be called a fault of mlcheck's own: each reader refuses them by name."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from multilang_cli.catalogue.feed_file import FeedError
from multilang_cli.catalogue.feed_file import read as read_feed
from multilang_cli.catalogue.texts import LARGEST_TEXT, TextError, file_bytes, file_text
from multilang_cli.kafka.stores.progress import ProgressError, ProgressOwner, read_state
from multilang_cli.repl.commands.table import Misuse
from multilang_cli.repl.parsing import leading_json, text_of
from multilang_cli.reports.evidence.bundle import BundleError, unpack
from multilang_cli.reports.matrix.files import DATA, read_matrix
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.documents import DocumentError, parse
from multilang_cli.subject.line_files import read_text
from multilang_cli.subject.patterns import LONGEST_PATTERN, patterns
from multilang_cli.suite.cases.case import CaseError, read_case
from multilang_cli.topology.faults.plan import FaultError
from multilang_cli.topology.faults.plan_file import read_plan
from multilang_cli.topology.flux.errors import FluxError
from multilang_cli.topology.flux.yaml_tree import load
from multilang_cli.topology.history_file import read_history
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.read import entries

if TYPE_CHECKING:
    from collections.abc import Callable

ENDLESS = Path("/dev/zero")
DEEP = "[" * 20_000 + "]" * 20_000
HOSTILE = {
    "brackets": "id: " + "[" * 200_000,
    "closed": "id: " + "[" * 5000 + "]" * 5000,
    "dashes": "- " * 5000 + "x",
    "digits": "id: " + "1" * 5000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_yaml_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CaseError, match=r"case\.yaml"):
        read_case(path)
    with pytest.raises(DocumentError, match=r"case\.yaml"):
        parse(text, ".yaml", "case.yaml")


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (file_text, TextError),
        (file_bytes, TextError),
        (read_case, CaseError),
        (read_feed, FeedError),
        (text_of, Misuse),
        (lambda path: read_text("--tuples ", str(path)), ConfigError),
        (lambda path: list(read_history(path)), msgspec.ValidationError),
        (read_plan, FaultError),
    ],
    ids=["text", "bytes", "case", "feed", "repl", "lines", "history", "plan"],
)
def test_a_file_without_an_end_is_read_no_further_than_the_bound(
    read: Callable[[Path], Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"larger than {LARGEST_TEXT >> 20} MiB|longer than {LARGEST_TEXT >> 20} MiB"):
        read(ENDLESS)


def test_a_device_is_no_recording() -> None:
    with pytest.raises(TranscriptError, match="a device, which has no end"):
        list(entries(ENDLESS))


@pytest.mark.parametrize("tag", ["!!bool x", '"\\ud800"', "!!timestamp x", "9" * 5000], ids=range(4))
def test_a_value_that_flux_has_none_for_is_refused_with_its_line(tag: str) -> None:
    with pytest.raises(FluxError, match=r"t\.yaml:2: .* is no value of tag:yaml") as told:
        load(f"a: 1\nb: {tag}\n", "t.yaml")
    assert len(str(told.value)) < 200


def test_a_history_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "history.ndjson"
    for line, why in ((f'{{"k":"phase","x":{DEEP}}}', "line 2: nested too deep"), ("[]", "line 2: Expected")):
        path.write_text(f'{{"k":"phase","t":0,"name":"drain"}}\n{line}\n')
        with pytest.raises(msgspec.ValidationError, match=why):
            list(read_history(path))


def test_a_history_that_is_no_utf_8_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "history.ndjson").write_bytes(b'{"k":"phase","t":0,"name":"\xd9"}\n')
    with pytest.raises(msgspec.ValidationError, match=r"line 1: .*utf-8"):
        list(read_history(tmp_path / "history.ndjson"))


@pytest.mark.parametrize(
    "data", [b'{"version":"1.0","kind":5,"x"}', b'{"version":5,"\xf0":1}', b'{"version":5,"x":1e999}']
)
def test_a_feed_that_is_no_json_behind_what_is_wrong_in_it_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "feed.json").write_bytes(data)
    with pytest.raises(FeedError, match=r"feed\.json"):
        read_feed(tmp_path / "feed.json")


@pytest.mark.parametrize("data", [b'{"a":' * 20_000, b"\xff", b"[]"], ids=["deep", "binary", "list"])
def test_what_is_no_matrix_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / DATA).write_bytes(data)
    with pytest.raises(msgspec.MsgspecError):
        read_matrix(tmp_path)


def test_json_that_is_nested_too_deep_is_named_as_such(tmp_path: Path) -> None:
    feed = tmp_path / "feed.json"
    feed.write_text('{"a":' * 20_000)
    with pytest.raises(FeedError, match="nested too deep"):
        read_feed(feed)
    with pytest.raises(Misuse, match="nested too deep"):
        leading_json("[" * 20_000)
    with pytest.raises(ProgressError, match="RecursionError"):
        read_state(DEEP.encode(), ProgressOwner("d", "t", 1), "here")


@pytest.mark.parametrize("offset", [2**63, -(2**62), 10**30, -(10**30), 10**4000], ids=range(5))
def test_progress_beyond_what_an_offset_can_be_is_refused(offset: int) -> None:
    with pytest.raises(ProgressError, match=r"no progress of a Kafka spout"):
        read_state(b'{"offset":%d}' % offset, ProgressOwner("d", "t", 1), "here")


def test_a_pattern_is_no_longer_than_can_be_matched(tmp_path: Path) -> None:
    long = tmp_path / "long"
    long.write_text("[" * (LONGEST_PATTERN + 1))
    with pytest.raises(ConfigError, match="-k: a pattern may have 1,000 characters"):
        patterns("-k", [f"@{long}"])


HEADER = b'{"transcript":"1.0","conv":"a","profile":{"kind":"bolt"}}\n'
_odd = st.sampled_from(
    [
        b"[" * 3000,
        b'{"a":' * 3000,
        b"9" * 4400,
        b"1e999",
        b"NaN",
        b'"\\ud800"',
        b"\xff",
        b"\0",
        b"-1",
        b"2.5",
        b"null",
        b"{}",
    ]
)
_line = st.builds(
    lambda key, value: b'{"conv":"a","seq":0,"t":0,"ch":"in","%s":%s}\n' % (key, value),
    st.sampled_from([b"seq", b"t", b"ch", b"msg", b"raw64", b"off", b"end", b"fact", b"conv", b"transcript"]),
    _odd | st.binary(max_size=20),
)


@given(lines=st.lists(_line | _odd | st.binary(max_size=60), max_size=6), head=st.booleans(), packed=st.booleans())
@example(lines=[b"\0" * 100_000], head=True, packed=True)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_recording_is_read_or_refused(lines: list[bytes], head: bool, packed: bool, tmp_path: Path) -> None:
    data = (HEADER if head else b"") + b"".join(lines)
    path = tmp_path / "a.ndjson"
    path.write_bytes(gzip.compress(data)[: -len(lines) or None] if packed else data)
    try:
        list(entries(path))
    except TranscriptError as error:
        assert str(error).startswith(str(path))  # noqa: PT017 (no recording must raise)


@given(report=_odd | st.binary(max_size=40), name=st.sampled_from(["transcripts/a.ndjson", "../a", "/a", "strange"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bundle_is_unpacked_or_refused(report: bytes, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("bundle")
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as bundle:
        for each in ("report.json", name):
            bundle.writestr(zipfile.ZipInfo(each), report)
    (folder / "b.zip").write_bytes(whole.getvalue())
    try:
        unpack(folder / "b.zip", folder / "out")
    except BundleError:
        assert not (folder / "out").exists()
    assert {each.name for each in folder.iterdir()} <= {"b.zip", "out"}


def test_every_json_value_of_a_feed_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "feed.json"
    values: tuple[Any, ...] = (None, 1, [], {}, {"version": 1}, {"version": "1.0", "kind": "x"})
    for value in values:
        path.write_text(json.dumps(value))
        with pytest.raises(FeedError):
            read_feed(path)


def _misplaced(data: bytearray) -> None:
    end = data.index(b"PK\5\6")
    struct.pack_into("<I", data, end + 16, struct.unpack_from("<I", data, end + 16)[0] + 10)


def _misnamed(data: bytearray) -> None:
    at = data.index(b"PK\1\2")
    struct.pack_into("<H", data, at + 8, 0x800)
    data[at + 46] = 0xFF


@pytest.mark.parametrize("harm", [_misplaced, _misnamed])
def test_a_bundle_with_a_damaged_list_of_files_is_refused(harm: Callable[[bytearray], None], tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as bundle:
        for name in ("report.json", "transcripts/a.ndjson"):
            bundle.writestr(name, "{}")
    data = bytearray(whole.getvalue())
    harm(data)
    (tmp_path / "b.zip").write_bytes(data)
    with pytest.raises(BundleError, match="is no bundle: "):
        unpack(tmp_path / "b.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_in_a_bundle_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as bundle:
        for name in ("report.json", "transcripts/a.ndjson", "transcripts/a.ndjson"):
            bundle.writestr(name, "{}")
    with pytest.raises(BundleError, match="a name stands twice"):
        unpack(tmp_path / "b.zip", tmp_path / "out")
