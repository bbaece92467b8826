"""How real Storm starts a component, and what it writes to it and to the worker's log, byte for byte."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.storm import cluster as storm

if TYPE_CHECKING:
    from tests.storm.cluster import Cluster

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

WITNESS = Path(__file__).parent / "witness.py"
WORDS = ["two words", "$HOME", "*", "a;b", ""]
OWN = {"PATH", "PWD", "OLDPWD", "SHLVL", "_", "PYTEST_CURRENT_TEST"}
"""Variables that a shim of python3 or the process itself sets, or that changed since the JVM was started."""
TUPLES = [[f"a/{number}"] for number in range(12)]
SAID = re.compile(r" (?P<logger>\S+) +\[[^]]*\] (?P<text>.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def witnesses(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each process of two bolts wrote down; the first has two tasks in one executor."""
    told = tmp_path_factory.mktemp("told")
    command = ["python3", WITNESS.name, str(told), *WORDS]
    first = storm.shell("first", "Bolt", command, ["y"]) | {
        "numTasks": 2,
        "configMethods": [{"name": "setEnv", "args": [{"WITNESS": "1", "PATH": "/more"}]}],
    }
    run = cluster.run(
        {
            "spouts": [storm.source("source", ["x"], TUPLES)],
            "bolts": [first, storm.shell("second", "Bolt", command, ["y"])],
            "streams": [storm.link("source", "first"), storm.link("source", "second")],
        },
        storm.settled(len(TUPLES)),
        resources=(WITNESS,),
    )
    assert (run.death, run.errors, run.failed) == (None, [], [])
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(told.iterdir())]


def logged(cluster: Cluster, text: str) -> list[tuple[str, str]]:
    """The lines of the worker's log with `text` in them: their logger and the line."""
    log = cluster.log.read_text(encoding="utf-8")
    return [(each["logger"], each["text"]) for each in SAID.finditer(log) if text in each["text"]]


def test_each_task_has_a_process_and_those_of_an_executor_start_one_after_the_other(
    witnesses: list[dict[str, Any]],
) -> None:
    assert len({each["pid"] for each in witnesses}) == len({each["task"] for each in witnesses}) == len(witnesses) == 3
    earlier, later = sorted(witnesses[:2], key=lambda each: float(each["started"]))
    assert earlier["ready"] < later["started"]


def test_the_command_is_words_and_no_shell_reads_them(witnesses: list[dict[str, Any]]) -> None:
    assert [each["words"] for each in witnesses] == [WORDS] * 3


def test_the_environment_is_the_workers_with_what_is_set_and_path_appended(witnesses: list[dict[str, Any]]) -> None:
    first, _, second = (each["environment"] for each in witnesses)
    assert second.items() >= {name: value for name, value in os.environ.items() if name not in OWN}.items()
    assert (first["WITNESS"], first["PATH"]) == ("1", f"{second['PATH']}:/more")
    assert "WITNESS" not in second


def test_a_message_is_a_line_of_json_and_a_line_end_with_its_slashes_escaped(witnesses: list[dict[str, Any]]) -> None:
    for each in witnesses:
        for frame in each["frames"]:
            assert re.fullmatch(r"\{[^\r\n]*\}\nend\n", frame)
            assert not re.search(r"(?<!\\)/", frame)
        assert r'"a\/' in each["frames"][1]


def test_the_handshake_has_no_member_for_the_version(witnesses: list[dict[str, Any]]) -> None:
    handshake = json.loads(witnesses[0]["frames"][0].removesuffix("end\n"))
    assert handshake.keys() == {"conf", "pidDir", "context"}
    assert not [key for key in (*handshake["conf"], *handshake["context"]) if "version" in key]


def test_a_log_is_a_line_with_pid_and_component(witnesses: list[dict[str, Any]], cluster: Cluster) -> None:
    lines = {text for _, text in logged(cluster, "ShellLog")}
    for each, name in zip(witnesses, ("first", "first", "second"), strict=True):
        assert f"ShellLog pid:{each['pid']}, name:{name} {name} logs" in lines


def test_stderr_of_all_components_is_logged_under_the_name_of_one(
    witnesses: list[dict[str, Any]], cluster: Cluster
) -> None:
    assert witnesses
    complaints = logged(cluster, "complains")
    assert {text.split()[0] for _, text in complaints} == {"first", "second"}
    assert len({logger for logger, _ in complaints}) == 1
