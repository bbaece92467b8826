"""The environment of a component is a Storm worker's, whatever shell mlcheck was started from."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue import loader
from multilang_cli.catalogue.environment import load_environment
from multilang_cli.catalogue.locate import data_path
from multilang_cli.driver.environment import TOPOLOGY, worker_environment
from tests.command import BOLT, mlcheck, mlcheck_in

if TYPE_CHECKING:
    from pathlib import Path

USUAL = {"PATH": "/usr/bin", "LANG": "de_DE.UTF-8"}
STDBUF = "/usr/libexec/coreutils/libstdbuf.so"
AUTO_ATTACH = "--require=/home/me/.vscode/extensions/ms-vscode.js-debug/src/bootloader.js"

NEVER_FLUSHES = """
import json, os, sys
def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line: sys.exit(0)
        lines.append(line)
    return json.loads("".join(lines))
def send(message):
    sys.stdout.write(json.dumps(message) + "\\nend\\n")
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
while True:
    message = read()
    send({"command": "sync"} if message["stream"] == "__heartbeat" else {"command": "ack", "id": message["id"]})
"""


def test_the_list_holds_to_its_schema_and_names_each_variable_once() -> None:
    assert loader.problems(data_path("conformance", "environment.yaml"), "environment") == []
    names = [switch.name for switch in load_environment().switches]
    assert len(set(names)) == len(names)
    for switch in load_environment().switches:
        for word in switch.words:
            re.compile(word)


@pytest.mark.parametrize("name", [switch.name for switch in load_environment().switches if not switch.words])
def test_a_switch_is_taken_away_and_told_or_kept(name: str) -> None:
    taken = worker_environment({}, inherited={**USUAL, name: "1"})
    assert taken.variables == USUAL
    assert len(taken.notes) == 1
    assert f" {name} (" in taken.notes[0]
    assert "--env NAME keeps it" in taken.notes[0]
    kept = worker_environment({}, inherited={**USUAL, name: "1"}, keep=[name])
    assert (kept.variables[name], kept.notes) == ("1", ())
    set_anew = worker_environment({name: "2"}, inherited={**USUAL, name: "1"})
    assert set_anew.variables[name] == "2"


@pytest.mark.parametrize(
    ("name", "value", "rest"),
    [
        ("LD_PRELOAD", STDBUF, None),
        ("LD_PRELOAD", f"/lib/liba.so:{STDBUF} /lib/libb.so", "/lib/liba.so /lib/libb.so"),
        ("LD_PRELOAD", "/lib/libjemalloc.so", "/lib/libjemalloc.so"),
        ("NODE_OPTIONS", "--inspect-brk=0 --max-old-space-size=512", "--max-old-space-size=512"),
        ("NODE_OPTIONS", AUTO_ATTACH, None),
        ("NODE_OPTIONS", "--require=./tracing.js", "--require=./tracing.js"),
        ("RUBYOPT", "-rbundler/setup -rdebug/open", "-rbundler/setup"),
        ("RUBYOPT", "-rdebugged_thing -W0", "-rdebugged_thing -W0"),
        ("PERL5OPT", "-d:NYTProf -Mlib=x", "-Mlib=x"),
        ("JAVA_TOOL_OPTIONS", "-agentlib:jdwp=transport=dt_socket -Xmx1g", "-Xmx1g"),
        ("JDK_JAVA_OPTIONS", "-Dfile.encoding=UTF-8", None),
        ("LD_LIBRARY_PATH", "/opt/lib", "/opt/lib"),
        ("PYTHONPATH", "/src", "/src"),
    ],
)
def test_of_options_and_preloads_only_the_words_that_matter(name: str, value: str, rest: str | None) -> None:
    worker = worker_environment({}, inherited={**USUAL, name: value})
    assert worker.variables.get(name) == rest
    assert bool(worker.notes) == (rest != value)


@pytest.mark.parametrize(
    ("inherited", "locale", "told"),
    [
        ({}, {"LANG": "C.UTF-8"}, "no locale is set: LANG=C.UTF-8 in its place"),
        ({"LANG": ""}, {"LANG": "C.UTF-8"}, "no locale is set: "),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, {"LANG": "C.UTF-8"}, "the locale is C by LC_ALL: "),
        ({"LC_CTYPE": "POSIX"}, {"LANG": "C.UTF-8"}, "the locale is POSIX by LC_CTYPE: "),
        ({"LC_ALL": "de_DE.ISO-8859-1"}, {"LC_ALL": "de_DE.ISO-8859-1"}, ""),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, {"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, ""),
    ],
)
def test_no_locale_is_a_locale_of_utf_8(inherited: dict[str, str], locale: dict[str, str], told: str) -> None:
    worker = worker_environment({}, inherited={"PATH": "/bin", **inherited})
    assert {name: value for name, value in worker.variables.items() if name != "PATH"} == locale
    assert "".join(worker.notes).startswith(told)
    assert bool(worker.notes) == bool(told)


@pytest.mark.parametrize("how", ["additions", "keep", "conf"])
def test_a_locale_that_somebody_decided_on_stays(how: str) -> None:
    given: dict[str, object] = {"additions": {"LC_ALL": "C"}, "keep": ["LC_ALL"], "conf": {TOPOLOGY: {"LC_ALL": "C"}}}
    additions = {"LC_ALL": "C"} if how == "additions" else {}
    more = {} if how == "additions" else {how: given[how]}
    worker = worker_environment(additions, inherited={"PATH": "/bin", "LC_ALL": "C"}, **more)  # type: ignore[arg-type]
    assert worker.variables == {"PATH": "/bin", "LC_ALL": "C"}
    assert worker.notes == ()


def test_the_topology_s_environment_is_the_worker_s_and_set_env_comes_upon_it() -> None:
    """`BasicContainer.launch` puts it into the worker's, library paths in front; `ShellProcess` appends only PATH."""
    conf = {TOPOLOGY: {"PATH": "/opt/bin", "PYTHONUNBUFFERED": "1", "LD_LIBRARY_PATH": "/own", "A": "1", "B": 2}}
    inherited = {**USUAL, "PYTHONUNBUFFERED": "x", "LD_LIBRARY_PATH": "/lib"}
    worker = worker_environment({"PATH": "/extra", "A": "2"}, conf=conf, inherited=inherited)
    assert worker.variables == {
        "PATH": "/opt/bin:/extra",
        "LANG": "de_DE.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "LD_LIBRARY_PATH": "/lib:/own",
        "A": "2",
    }


def test_without_a_path_programs_are_found_where_a_shell_looks() -> None:
    worker = worker_environment({}, inherited={"LANG": "C.UTF-8"})
    assert worker.variables["PATH"].startswith("/usr/local/sbin:/usr/local/bin:")
    assert worker.notes == (f"PATH is unset: {worker.variables['PATH']} in its place",)


def test_a_name_to_keep_that_is_not_there_is_told() -> None:
    assert worker_environment({}, inherited=USUAL, keep=["NONE"]).notes == (
        "--env NONE: there is no such variable here",
    )


PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root"}
SHELLS = {
    "bare shell": {**PATH, "LANG": "en_US.UTF-8", "TERM": "xterm"},
    "cron": {"SHELL": "/bin/sh"},
    "container": {**PATH, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
    "CI": {**PATH, "CI": "true", "LC_ALL": "C", "PYTHONUNBUFFERED": "x", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0"},
}
"""Where people start mlcheck, and all that is set there."""


@pytest.mark.component
@pytest.mark.parametrize("shell", SHELLS)
def test_who_never_flushes_gets_the_same_verdict_everywhere(shell: str, tmp_path: Path) -> None:
    (tmp_path / "bolt.py").write_text(NEVER_FLUSHES, encoding="utf-8")
    command = ["run", "--kind", "bolt", "-k", "bolt.settle.once", "--report", "json=-", "--", sys.executable, "bolt.py"]
    ran = mlcheck_in(SHELLS[shell], *command, cwd=tmp_path)
    result = json.loads(ran.stdout)
    found = {finding["rule"] for subject in result["subjects"] for finding in subject["findings"]}
    assert (ran.returncode, result["verdict"], found) == (3, "no-first-message", {"handshake-silent"}), ran.stderr
    taken = [note for note in result["notes"] if note.startswith("taken out of its environment")]
    assert len(taken) == ("PYTHONUNBUFFERED" in SHELLS[shell])


@pytest.mark.component
@pytest.mark.parametrize("shell", SHELLS)
def test_a_right_bolt_gets_the_same_verdict_everywhere(shell: str, tmp_path: Path) -> None:
    words = ["--kind", "bolt", "-k", "bolt.settle.once", "-q", "--", sys.executable, BOLT]
    ran = mlcheck_in(SHELLS[shell], "run", *words, cwd=tmp_path)
    assert (ran.returncode, ran.stdout.split()[0]) == (0, "PASS"), ran.stderr


@pytest.mark.component
def test_who_needs_the_switch_is_told_how_to_keep_it(tmp_path: Path) -> None:
    (tmp_path / "bolt.py").write_text(NEVER_FLUSHES, encoding="utf-8")
    words = ["--kind", "bolt", "-k", "bolt.settle.once", "-q"]
    component = ["--", sys.executable, "bolt.py"]
    for kept in ("PYTHONUNBUFFERED", "PYTHONUNBUFFERED=1"):
        ran = mlcheck("run", *words, "--env", kept, *component, cwd=tmp_path, PYTHONUNBUFFERED="1")
        assert ran.returncode == 0, ran.stdout
    (tmp_path / "mlcheck.toml").write_text(
        '[[component]]\nkind = "bolt"\nkeep_env = ["PYTHONUNBUFFERED"]\n'
        f'command = [{json.dumps(sys.executable)}, "bolt.py"]\n',
        encoding="utf-8",
    )
    assert mlcheck("run", "-k", "bolt.settle.once", "-q", cwd=tmp_path, PYTHONUNBUFFERED="1").returncode == 0


@pytest.mark.parametrize(
    ("storm", "variables", "note"),
    [
        ("0.9.2", {}, "topology.environment of conf was left out: Storm 0.9.2 does not know it (since 0.9.3)"),
        ("1.2.4", {"A": "1"}, "LD_LIBRARY_PATH of topology.environment was left out: Storm 1.2.4 puts its own"),
        ("2.0.0", {"A": "1", "LD_LIBRARY_PATH": "/own"}, ""),
    ],
)
def test_a_topology_s_environment_is_handed_on_as_that_storm_does(
    storm: str, variables: dict[str, str], note: str
) -> None:
    conf = {TOPOLOGY: {"A": "1", "LD_LIBRARY_PATH": "/own"}}
    worker = worker_environment({}, conf=conf, inherited=USUAL, storm=storm)
    assert worker.variables == {**USUAL, **variables}
    assert [each[: len(note)] for each in worker.notes] == ([note] if note else [])
