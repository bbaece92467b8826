"""``python -m benchmarks.hostile [N]``: hostile files, components, environments and signals; counts what goes wrong.

Every file is handed to every command that reads such files; N random combinations of a component, an environment and
a signal at a random moment are run, checked by ``run`` or passed on by ``tap``. There must be no orphan, no traceback,
no exit code out of the table, no fault of mlcheck's own, nothing left among temporary files and no byte lost: a tap
passes on what it is given, and every line of a recording but the last is whole.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import IO, NamedTuple

from benchmarks.options import parser_of

ROOT = Path(__file__).parent.parent
BOLT = str(ROOT / "examples" / "python" / "split_bolt.py")
LONGEST = 60.0
"""Seconds that a command may take on a busy machine."""
GONE = 60.0
"""Seconds in which what a killed mlcheck leaves behind must be gone.

A tap's recorder, which gives way to all others, computes for two; on a machine with 30 at work that is half a minute.
"""
TABLE = frozenset({0, 1, 2, 3, 4, 6, 130})
"""Exit codes; 5 is a fault of mlcheck's own."""
TOLD_EACH = 50
"""Combinations after which it says how far it is."""
MARK = "HOSTILE_RUN"

_DEEP = "[" * 200_000
JSON = {
    "deep": _DEEP,
    "object": '{"a":' * 50_000,
    "digits": "[" + "9" * 5001 + "]",
    "half": '["\\ud800"]',
    "nan": "[NaN]",
}
YAML = {
    "brackets": f"id: {_DEEP}",
    "dashes": "- " * 5000 + "x",
    "digits": "id: " + "1" * 5000,
    "date": "id: 2001-99-99",
    "tag": "a: !!bool x",
    "aliases": "a: &a [x, x, x]\nb: &b [" + "*a, " * 9 + "]\nc: [" + "*b, " * 9 + "&c [*b]]\nd: &d [*d]",
}
TOML = {
    "dots": "[" + ".".join(["a"] * 20_000) + "]",
    "date": "a = 2001-99-99",
    "digits": "a = " + "9" * 5001,
    "deep": f"a = {_DEEP}",
    "tables": "a = " + "{a = " * 5000 + "1" + "}" * 5000,
}
LINES = {**JSON, "pattern": "[" * 200_000, "zeros": "\0" * 1_000_000}
BINARY = "\udcff\udcfe\0"
"""No UTF-8: written with surrogateescape."""


class FileReader(NamedTuple):
    """A command that reads a file: what the file is named, which texts are put into it, and the words."""

    file: str
    texts: dict[str, str]
    words: tuple[str, ...]


_RUN = ("run", "--kind", "bolt", "-k", "handshake.pid-first")
READERS = {
    "mlcheck.toml": FileReader("mlcheck.toml", TOML, ("config", "show")),
    "conf of JSON": FileReader("f.json", JSON, (*_RUN, "--conf-file", "f.json", BOLT)),
    "conf of YAML": FileReader("f.yaml", YAML, (*_RUN, "--conf-file", "f.yaml", BOLT)),
    "conf of TOML": FileReader("f.toml", TOML, (*_RUN, "--conf-file", "f.toml", BOLT)),
    "tuples": FileReader("f", LINES, (*_RUN, "--tuples", "f", BOLT)),
    "cases": FileReader("f.yaml", YAML, ("run", "--kind", "bolt", "-k", "x", "--suite", "f.yaml", BOLT)),
    "patterns": FileReader("f", LINES, ("run", "--kind", "bolt", "-k", "@f", BOLT)),
    "known failures": FileReader("f", LINES, (*_RUN, "--known-failures", "f", BOLT)),
    "testee": FileReader("testee.yaml", YAML, ("run", "--testee", ".")),
    "commands": FileReader("f", LINES, ("repl", "--source", "f", "--kind", "bolt", BOLT)),
    "lint": FileReader("f.ndjson", LINES, ("lint", "f.ndjson")),
    "diff": FileReader("f.ndjson", LINES, ("diff", "f.ndjson", "f.ndjson")),
    "report": FileReader("f.ndjson", LINES, ("report", "f.ndjson", "-o", "o.html")),
    "bundle": FileReader("f.zip", LINES, ("report", "--open", "f.zip")),
    "promote": FileReader("f.ndjson", LINES, ("promote", "f.ndjson")),
    "log": FileReader("f.log", LINES, ("explain", "--log", "f.log")),
    "schema": FileReader("f.yaml", YAML, ("schema", "validate", "case", "f.yaml")),
    "flux": FileReader("f.yaml", YAML, ("topology", "plan", "f.yaml")),
    "matrix": FileReader("out/matrix.json", JSON, ("matrix", ".", "-o", "out", "--add")),
}

_PID = "import os,sys,time,json\nsys.stdin.readline()\nprint(json.dumps({'pid': os.getpid()}) + '\\nend', flush=True)\n"
COMPONENTS = {
    "dies": "raise SystemExit(3)\n",
    "floods": "while True: print('x' * 65536)\n",
    "floods stderr": "import sys\nwhile True: sys.stderr.write('x' * 65536)\n",
    "ignores SIGTERM": f"import signal\nsignal.signal(15, signal.SIG_IGN)\n{_PID}time.sleep(1000)\n",
    "has children": f"import subprocess\nsubprocess.Popen(['sleep', '1000'])\n{_PID}time.sleep(1000)\n",
    "closes its streams": f"{_PID}os.close(0); os.close(1); os.close(2); time.sleep(1000)\n",
    "stops itself": f"{_PID}os.kill(os.getpid(), 19)\n",
    "nests JSON": f"{_PID}print('[' * 200000 + '\\nend', flush=True)\ntime.sleep(1000)\n",
    "asks much of patterns": "import sys\nsys.stderr.write('\\n' * 65536 + ' at ' * 9999)\nraise SystemExit(1)\n",
    "names a pipe as its source": "import os, sys\nos.mkfifo('b.rb')\nsys.exit('b.rb:1:in `x`: no (NameError)')\n",
    "fills the pid folder": f"import json\n{_PID}[open(f'/proc/self/cwd/{{n}}.x', 'w') for n in range(9)]\n",
    "copies": "import shutil, sys\nshutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)\n",
}
TAPPED = ("copies", "dies", "nests JSON")
"""Those that a tap is tried with: they end by themselves or by a signal, and write no more than can be kept.

What a component behind a tap starts lives on, as it would without the tap.
"""
ENDING = frozenset({"copies", "dies"})
"""Those that end by themselves."""
FED = random.Random(0).randbytes(1 << 20)
"""Bytes that a tap is given."""
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "plain": {},
    "inspects": {"PYTHONINSPECT": "1"},
    "no locale": {"LC_ALL": "nowhere", "TERM": "\x1b", "COLUMNS": "-1"},
    "not a home": {"HOME": "/nowhere", "XDG_CACHE_HOME": "/dev/null"},
}
SIGNALS = (None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
CHECK = (*_RUN, "--timeout", "1", "--record-all", "c.py")
TAP = ("tap", "--kind", "bolt", "--record", "recorded", "--", sys.executable, "c.py")


def main() -> int:
    """Run the soak; 1 if anything was counted."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("count", nargs="?", type=int, default=1000, help="random combinations")
    parser.add_argument("--seed", type=int, default=0, help="what they are drawn from")
    chosen = parser.parse_args()
    for each in filter(None, SIGNALS):
        if each is not signal.SIGKILL:
            # What is ignored here, as SIGHUP is below nohup, would be by every command.
            signal.signal(each, signal.default_int_handler if each is signal.SIGINT else signal.SIG_DFL)
    counted = files(READERS) + combinations(chosen.count, chosen.seed)
    pairs = sum(len(reader.texts) + 1 for reader in READERS.values())
    print(f"{pairs} files, {chosen.count} combinations, seed {chosen.seed}: {dict(counted) or 'nothing went wrong'}")
    return 1 if counted else 0


def files(readers: dict[str, FileReader]) -> Counter[str]:
    """Count what went wrong with every file of these readers."""
    counted: Counter[str] = Counter()
    for name, reader in readers.items():
        for what, text in {**reader.texts, "binary": BINARY}.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, reader.file)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="surrogateescape")
                counted += _told(f"{name}, {what}", played(reader.words, Path(folder), {}, None, 0.0))
    return counted


def combinations(count: int, seed: int) -> Counter[str]:
    """Count what went wrong with `count` random combinations."""
    draw = random.Random(seed)
    counted: Counter[str] = Counter()
    for number in range(count):
        words = draw.choice((CHECK, TAP))
        component = draw.choice(list(COMPONENTS) if words == CHECK else TAPPED)
        environment = draw.choice(list(ENVIRONMENTS))
        sent, moment = draw.choice(SIGNALS), draw.uniform(0.0, 3.0)
        if words == TAP and sent is None and component not in ENDING:
            sent = signal.SIGTERM
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            Path(folder, "c.py").write_text(COMPONENTS[component])
            found = played(words, Path(folder), ENVIRONMENTS[environment], sent, moment, copies=component == "copies")
        which = f"{number}: {words[0]}, {component}, {environment}, {sent and sent.name} after {moment:.3f} s"
        counted += _told(which, found)
        if not (number + 1) % TOLD_EACH:
            print(f"{number + 1} of {count} combinations", file=sys.stderr, flush=True)
    return counted


def _told(which: str, found: Counter[str]) -> Counter[str]:
    if found:
        print(f"{which}: {', '.join(found)}", file=sys.stderr, flush=True)
    return found


def played(
    words: tuple[str, ...],
    folder: Path,
    env: dict[str, str],
    sent: signal.Signals | None,
    moment: float,
    *,
    copies: bool = False,
) -> Counter[str]:
    """Run a command in a folder of its own, with `sent` at that moment, and count what went wrong.

    `copies`: the component of a tap writes what it reads.
    """
    temporary = folder / "tmp"
    temporary.mkdir()
    run = f"{os.getpid()}-{time.monotonic_ns()}"
    with _fed(folder) if words == TAP else Path(os.devnull).open("rb") as given:
        process = subprocess.Popen(
            [sys.executable, "-m", "multilang_cli", *words],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), MARK: run, **env},
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        _signalled(process, sent, moment)
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        left = _left(run, temporary)
        return Counter(["hang", *(name for name, is_so in left.items() if is_so)])
    wrong = {
        "traceback": _ours(out + err),
        "exit code": process.returncode not in TABLE and not (sent and process.returncode in _ended_by(sent)),
        "fault": process.returncode == 5,  # noqa: PLR2004 (the exit code)
        "bytes lost": _damaged(folder) or (words == TAP and copies and not process.returncode and out != FED),
        **_left(run, temporary),
    }
    return Counter(name for name, is_so in wrong.items() if is_so)


def _fed(folder: Path) -> IO[bytes]:
    """What is read from stdin, as a file, so that nobody has to write it meanwhile."""
    path = folder / "fed"
    path.write_bytes(FED)
    return path.open("rb")


def _damaged(folder: Path) -> bool:
    """True if a line that a recorder has ended is no JSON."""
    recordings = [*folder.rglob(".mlcheck/**/*.ndjson"), *folder.glob("recorded/*.ndjson")]
    return any(not is_json(line) for path in recordings for line in path.read_bytes().split(b"\n")[:-1])


def is_json(line: bytes) -> bool:
    """True if it can be read."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _ours(said: bytes) -> bool:
    """True if a traceback has a frame of mlcheck's: a signal that meets Python as it starts is told by Python."""
    return b"multilang_cli" in said.partition(b"Traceback (most recent call last)")[2]


def _ended_by(sent: signal.Signals) -> frozenset[int]:
    """Give the codes of a command that a signal ended; 130 of a shell is SIGINT, which others are turned into."""
    return frozenset({-sent, 128 + sent, -signal.SIGINT})


def _signalled(process: subprocess.Popen[bytes], sent: signal.Signals | None, moment: float) -> None:
    if sent is None:
        return
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(sent)


def _left(run: str, temporary: Path) -> dict[str, bool]:
    """Find processes or temporary files are left, once there was time to clean up."""
    until = time.monotonic() + GONE
    while True:
        left = {"orphan": bool(orphans(run)), "temporary files": any(temporary.iterdir())}
        if not any(left.values()) or time.monotonic() > until:
            return left
        time.sleep(0.05)


def orphans(run: str) -> list[int]:
    """The living processes of this run: their environment says so."""
    mark = f"{MARK}={run}".encode()
    # A process that ends between the two would end a search for what lies in its folder.
    processes = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [int(path.name) for path in processes if mark in _environment(path / "environ")]


def _environment(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    sys.exit(main())
