"""An evidence bundle: recordings, what was found in them, and where that was, in one file for an issue of a library."""

from __future__ import annotations

import codecs
import re
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli import __version__
from multilang_cli.driver.scratch import scratch
from multilang_cli.protocol.words.events import Chunk
from multilang_cli.reports.escape import decode, escape_lines
from multilang_cli.reports.formats.json_report import to_json
from multilang_cli.reports.formats.markdown import to_markdown
from multilang_cli.reports.html.page import to_html
from multilang_cli.reports.machine import platform_of
from multilang_cli.transcript.archives import ArchiveError, most_bytes, opened
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.given import BY_PATTERN, GIVEN
from multilang_cli.transcript.private import make_private, open_private, whole_file
from multilang_cli.transcript.read import Happened
from multilang_cli.transcript.redact import Redactor
from multilang_cli.transcript.sharing import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult

STDERR_KEPT = 64 * 1024
"""Bytes of each conversation's last stderr that stand in the bundle by themselves; all of it is in the transcript."""
MOST_FILES = 1000
"""Files that a bundle may hold."""
PAGE = "page.html"
_FIXED = frozenset({"about.md", "report.json", PAGE, "environment.json", "stderr.txt"})
_TRANSCRIPT = re.compile(r"transcripts/[^/\\\x00-\x1f\x7f]{1,200}\.ndjson(\.gz)?")
_LONGEST_NUMBER = "9" * len(str(MOST_FILES))
_WHEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file: when it was packed is nobody's concern."""


class BundleError(Exception):
    """A file that is no bundle, or one that can't be unpacked: a sentence says why."""


def pack(path: Path, transcripts: Sequence[str], result: RunResult, rulebook: Rulebook, events: int) -> None:
    """Write the bundle of `transcripts`, in which `result` was found. Raises OSError, ReportError, BundleError.

    It is written whole or not at all. `events`: how many there are on its page at most.
    """
    _check_hidden(transcripts)
    if path.exists() and not path.is_file():
        raise BundleError(f"{path} is no file: a bundle takes the place of one")
    with whole_file(path) as whole:
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as bundle:
            for name, text in _texts(transcripts, result, rulebook, events).items():
                bundle.writestr(_entry(name), text)
            for name, source in _names(transcripts).items():
                with Path(source).open("rb") as file, bundle.open(_entry(name), "w", force_zip64=True) as entry:
                    shutil.copyfileobj(file, entry)
        if why := _too_much(whole.tell(), bundle.infolist()):
            raise BundleError(f"{path} would be a bundle that {why}: nobody could open it; give fewer recordings")


def _check_hidden(transcripts: Sequence[str]) -> None:
    """Raise BundleError if a recording, which is packed as it is, holds what the user declared secret."""
    if not (GIVEN.patterns or GIVEN.names):
        return
    redactors: dict[int, Redactor] = {}
    for number, path, entry in lines_of(transcripts):
        open_ = False
        if isinstance(entry, Header):
            redactors[number] = Redactor({})
            open_ = redactors[number].header(entry) != entry
        elif isinstance(entry, Happened):
            open_ = any(redactors[number].event(event)[1] for event in entry.events)
        if open_:
            why = f"it holds what {BY_PATTERN} or [redact] hides, and a bundle holds recordings as they are"
            raise BundleError(f"{path}: {why}: record it again, with the same")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _WHEN)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _texts(transcripts: Sequence[str], result: RunResult, rulebook: Rulebook, events: int) -> dict[str, str]:
    environment = {
        "mlcheck": __version__,
        "storm": result.storm,
        "command": list(result.component.command),
        **platform_of(),
        "packages": {"msgspec": msgspec.__version__},
    }
    return {
        "about.md": _about(result, rulebook, _names(transcripts)),
        "report.json": to_json(result, rulebook),
        "page.html": to_html(result, rulebook, events=events),
        "environment.json": msgspec.json.format(msgspec.json.encode(environment), indent=2).decode() + "\n",
        "stderr.txt": _stderr(transcripts),
    }


def _about(result: RunResult, rulebook: Rulebook, names: dict[str, str]) -> str:
    first = next(iter(names))
    return (
        f"{to_markdown(result, rulebook)}\n## What is in this bundle\n\n"
        "- `page.html`: the conversations and what was found, for a browser\n"
        "- `report.json`: the same for programs; `environment.json`: where it was found\n"
        "- `stderr.txt`: the last that the component wrote to stderr\n"
        "- `transcripts/`: the recordings. With mlcheck:\n\n"
        f"```sh\nmlcheck lint {first}\nmlcheck replay {first} -- COMMAND\n```\n"
    )


def _names(transcripts: Sequence[str]) -> dict[str, str]:
    """The files by their names in the bundle; two of one name are numbered, one that none may have gets another."""
    named: dict[str, str] = {}
    for source in dict.fromkeys(transcripts):
        name = Path(source).name
        if not _TRANSCRIPT.fullmatch(f"transcripts/{_LONGEST_NUMBER}-{name}") or not name.isprintable():
            name = f"transcript.ndjson{'.gz' if name.endswith('.gz') else ''}"
        place, number = f"transcripts/{name}", 1
        while place in named:
            number += 1
            place = f"transcripts/{number}-{name}"
        named[place] = source
    return named


def _stderr(transcripts: Sequence[str]) -> str:
    """The last that each conversation's component wrote to stderr."""
    last: dict[int, bytes] = {}
    names: dict[int, str] = {}
    for number, _, entry in lines_of(transcripts):
        if isinstance(entry, Happened) and isinstance((event := entry.events[-1]).body, Chunk):
            last[number] = (last.get(number, b"") + event.raw)[-STDERR_KEPT:]
            names[number] = entry.conv
    return "".join(f"== {names[number]}\n{escape_lines(decode(text))}\n" for number, text in last.items())


def unpack(path: Path, folder: Path) -> list[str]:
    """Restore a bundle into `folder`, which is made; the names of its transcripts there.

    A bundle is a stranger's file: names other than a bundle's are refused, sizes are bounded, and its page, which a
    browser would run, stays packed. There is a whole folder or none. Raises BundleError, OSError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BundleError(f"{folder} is there already, and not empty (-o DIR)")
    try:
        with opened(path) as bundle:
            entries = bundle.infolist()
            _check(path, entries)
            folder.parent.mkdir(parents=True, exist_ok=True)
            with scratch(".mlcheck-", folder.parent) as part:
                for entry in entries:
                    if entry.filename == PAGE:
                        continue
                    target = Path(part, entry.filename)
                    make_private(target.parent)
                    with bundle.open(entry) as source, open_private(target, "wb") as file:
                        recording = _TRANSCRIPT.fullmatch(entry.filename)
                        _copy(source.read, file.write if recording else _escaping(file.write), entry.file_size)
                make_private(folder)
                for whole in Path(part).iterdir():
                    whole.rename(folder / whole.name)
    except ArchiveError as error:
        raise BundleError(f"{path} is no bundle: {error}") from None
    return sorted(entry.filename for entry in entries if entry.filename.startswith("transcripts/"))


def _check(path: Path, entries: Sequence[zipfile.ZipInfo]) -> None:
    strange = next(
        (e.filename for e in entries if e.filename not in _FIXED and not _TRANSCRIPT.fullmatch(e.filename)), ""
    )
    if strange:
        raise BundleError(f"{path} is no bundle of mlcheck's: it holds {strange[:80]!a}")
    names = {entry.filename for entry in entries}
    if len(names) < len(entries):
        raise BundleError(f"{path} is no bundle of mlcheck's: a name stands twice in it")
    if "report.json" not in names:
        raise BundleError(f"{path} is no bundle of mlcheck's: there is no report.json in it")
    if why := _too_much(path.stat().st_size, entries):
        raise BundleError(f"{path} {why}")
    if not any(_TRANSCRIPT.fullmatch(entry.filename) for entry in entries):
        raise BundleError(f"{path} is no bundle of mlcheck's: there are no transcripts in it")


def _too_much(size: int, entries: Sequence[zipfile.ZipInfo]) -> str:
    """The reason why a bundle of this size is too large to be opened; "" where it is not."""
    if len(entries) <= MOST_FILES and sum(entry.file_size for entry in entries) <= most_bytes(size):
        return ""
    return f"unpacks to more than a bundle may hold ({MOST_FILES} files, {most_bytes(size)} bytes)"


def _escaping(write: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Write text as it may be shown on a terminal: a stranger may have put anything into it."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    return lambda part: write(escape_lines(decoder.decode(part)).encode())


def _copy(read: Callable[[int], bytes], write: Callable[[bytes], object], size: int) -> None:
    """Copy no more than was announced."""
    while size > 0 and (part := read(min(size, 1 << 20))):
        size -= len(part)
        write(part)
