"""Files with names that can be foreseen: whoever shares the folder may have put a link there, which is not followed."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue.loader import example_profile
from multilang_cli.kafka.metrics import write_prometheus
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.subject.recordings import prepare_record
from multilang_cli.suite.case_result import our_fault
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.tap.log import TapLog
from multilang_cli.tap.wrapper import write as write_wrapper
from multilang_cli.topology.engine.workers import StderrFile
from multilang_cli.topology.history_file import HistoryFile
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.private import open_afresh
from multilang_cli.transcript.redact import Redactor
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CASE = load_cases()[0]


def logged(path: Path) -> None:
    """Write to the log of a tap."""
    log = TapLog(verbose=False)
    log.open(path, {})
    log.line("mine")
    log.close()


ANEW: dict[str, Callable[[Path], object]] = {
    ".out.prom.{pid}.tmp": lambda folder: write_prometheus(str(folder), {"topology": "out"}, "mine"),
    ".bolt.{pid}.tmp": lambda folder: write_wrapper(folder / "bolt", "mine"),
    "any": lambda folder: open_afresh(folder / "any").close(),
    f"{CASE.id}.fault.txt": lambda folder: our_fault(CASE, ValueError("odd"), folder),
    ".writable": prepare_record,
    "result.json": lambda folder: write_whole(folder / "result.json", b"mine", private=True),
}
"""What makes a file anew, by the name that is in its way; each process that runs tests has a pid of its own."""
BEHIND: dict[str, Callable[[Path], object]] = {
    "t.ndjson": lambda folder: TranscriptWriter(
        folder / "t.ndjson", Header(conv="t", profile=example_profile("bolt"))
    ).close(),
    "history.ndjson": lambda folder: HistoryFile(folder / "history.ndjson").__exit__(),
    "split-3.txt": lambda folder: StderrFile(folder / "split-3.txt", Redactor({})).add(b"mine\n"),
    "t.log": lambda folder: logged(folder / "t.log"),
}
"""What writes behind what is there, by the name of its file."""


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    """A file that is nobody's to write to."""
    path = tmp_path / "letter"
    path.write_text("not yours")
    return path


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder to which others may write."""
    path = tmp_path / "shared"
    path.mkdir()
    return path


@pytest.mark.parametrize("leads", ["letter", "nowhere"])
@pytest.mark.parametrize("name", ANEW)
def test_no_link_in_the_place_of_what_is_made_anew_is_followed(
    name: str, leads: str, shared: Path, letter: Path
) -> None:
    (shared / name.format(pid=os.getpid())).symlink_to(letter.with_name(leads))
    ANEW[name](shared)
    assert (letter.read_text(), letter.with_name("nowhere").exists()) == ("not yours", False)
    assert not any(path.is_symlink() for path in shared.iterdir())


@pytest.mark.parametrize("name", BEHIND)
def test_nothing_is_written_behind_what_a_link_leads_to(name: str, shared: Path, letter: Path) -> None:
    (shared / name).symlink_to(letter)
    with suppress(OSError):
        BEHIND[name](shared)
    assert letter.read_text() == "not yours"


@pytest.mark.parametrize("name", ANEW | BEHIND)
def test_what_they_write_is_there_where_no_link_is(name: str, shared: Path) -> None:
    (ANEW | BEHIND)[name](shared)
    assert name.startswith(".") or (shared / name).is_file()
