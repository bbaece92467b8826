"""Secrets of which nothing was declared: their form alone tells them, in all that is written of who writes them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.command import mlcheck
from tests.secrets import unpacked

pytestmark = pytest.mark.component

SECRET = b"Zq4711hunterXw"
BLABBER = str(Path(__file__).parents[1] / "secrets" / "blabber.py")
FORMATS = ("json", "junit", "github", "markdown", "sarif", "html")


def _reports(stem: str) -> list[str]:
    return [word for each in FORMATS for word in ("--report", f"{each}={stem}.{each}")]


def test_they_stand_in_nothing_that_is_written(tmp_path: Path) -> None:
    component = ["--", sys.executable, BLABBER]
    commands = 'tuple ["a"]\nwait settle\nhistory\nsave case bolt.by-hand\nquit\n'
    said = []

    def ran(*words: str, stdin: str = "") -> None:
        done = mlcheck(*words, cwd=tmp_path, stdin=stdin)
        assert done.returncode in {0, 1}, done.stderr[-2000:]
        said.append((words[0], done.stdout + done.stderr))

    ran(
        "run",
        "--kind",
        "bolt",
        "-v",
        "-k",
        "bolt.settle*",
        "--record",
        "kept",
        "--record-all",
        *_reports("run"),
        *component,
    )
    recorded = str(next(iter(sorted((tmp_path / "kept").rglob("*.ndjson")))))
    ran("lint", "kept", *_reports("lint"))
    ran("report", recorded, "-o", "page.html", "--bundle", "bundle.zip")
    ran("diff", recorded, recorded, *_reports("diff"))
    ran("replay", recorded, "--record", "again", *_reports("replay"), *component)
    ran("repl", "--kind", "bolt", *component, stdin=commands)
    assert [command for command, text in said if SECRET.decode() in text] == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in files if any(SECRET in part for part in unpacked(path.read_bytes()))] == []
    assert b"***" in Path(recorded).read_bytes()


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("pasted", [True, False], ids=["pasted", "log"])
def test_what_a_worker_says_of_a_lost_component_is_told_without_them(
    form: tuple[str, ...], pasted: bool, tmp_path: Path
) -> None:
    secret = SECRET.decode()
    line = (
        f"o.a.s.t.ShellBolt [ERROR] Halting process: ShellBolt died. Command: [python3, --password, {secret}, b.py],"
        f" ProcessInfo pid:7, name:b exitCode:1, errorString: cannot log in with password={secret}\n"
        "java.lang.RuntimeException: Pipe to subprocess seems to be broken! No output read.\n"
    )
    (tmp_path / "worker.log").write_text(line, encoding="utf-8")
    done = mlcheck("explain", *form, *([line] if pasted else ["--log", "worker.log"]), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert secret not in done.stdout + done.stderr
    assert "password=***" in done.stdout
