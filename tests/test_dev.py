"""The commands of a clone: which stages and test files `dev.py` takes, and how it counts a run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dev
from tests.conftest import has_none, spread


def run_as(
    monkeypatch: pytest.MonkeyPatch, *arguments: str, bytecode: Path = Path(__file__)
) -> tuple[int, list[dev.Stage]]:
    """The exit code of `dev.py ARGUMENTS...` and the stages it would have run."""
    ran: list[dev.Stage] = []

    def green(stage: dev.Stage) -> dev.Result:
        ran.append(stage)
        return dev.Result(stage, "", 0.0, dev.Counts(passed=1))

    monkeypatch.setattr(dev, "run_stage", green)
    monkeypatch.setattr(dev, "BYTECODE", bytecode)
    monkeypatch.setattr(dev, "set_up_python", lambda: None)
    monkeypatch.setattr(dev, "set_up_programs", lambda: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    return dev.main(list(arguments)), ran


def test_the_quick_loop_starts_no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    code, ran = run_as(monkeypatch, "quick")
    assert code == 0
    assert [stage.name for stage in ran] == ["ruff", "format", "mypy", "imports", "short"]
    assert not any(stage.programs for stage in ran)


def test_mlcheck_has_the_environment_of_the_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr("os.execv", lambda *_: sys.exit(os.environ["PATH"]))
    with pytest.raises(SystemExit, match=re.escape(f"{dev.BIN}{os.pathsep}/usr/bin")):
        run_as(monkeypatch, "mlcheck", "--version")


def test_no_name_is_every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_as(monkeypatch, "test") == (0, list(dev.STAGES))


@pytest.mark.parametrize(
    ("stages", "there", "compiled"), [("ruff unit", False, True), ("ruff unit", True, False), ("unit", False, False)]
)
def test_tests_are_compiled_beside_the_stages_before_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stages: str, *, there: bool, compiled: bool
) -> None:
    marker = tmp_path / "compiled"
    monkeypatch.setattr(dev, "COMPILE", ("touch", str(marker)))
    bytecode = tmp_path if there else tmp_path / "bytecode"
    assert run_as(monkeypatch, "test", *stages.split(), bytecode=bytecode)[0] == 0
    assert marker.exists() == compiled


@pytest.mark.parametrize("path", ["tests/test_dev.py", "tests/test_dev.py::test_unknown_names", "tests/mistakes"])
def test_a_test_file_is_run_whatever_its_markers(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    code, ran = run_as(monkeypatch, "test", path)
    assert code == 0
    assert [(stage.name, stage.runs_tests) for stage in ran] == [("paths", True)]
    assert ran[0].command[-1] == path
    assert "-m" not in ran[0].command[ran[0].command.index("pytest") + 1 :]


def test_stages_and_files_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [stage.name for stage in run_as(monkeypatch, "test", "tests/test_dev.py", "mypy")[1]] == ["mypy", "paths"]


@pytest.mark.parametrize("name", ["units", "tests/test_nothing.py", "README.md", "../outside"])
def test_unknown_names(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert run_as(monkeypatch, "test", name) == (2, [])
    assert name in capsys.readouterr().err


@pytest.mark.parametrize(
    ("opening", "counts"),
    [
        ('<testsuite errors="1" failures="2" skipped="3" tests="10">', dev.Counts(4, 3, 3)),
        ('<testsuite errors="0" failures="0" skipped="0" tests="7"><testcase/>', dev.Counts(7, 0, 0)),
    ],
)
def test_counts_of_a_report(tmp_path: Path, opening: str, counts: dev.Counts) -> None:
    report = tmp_path / "report.xml"
    report.write_text(opening, encoding="utf-8")
    assert dev._counts(report) == counts
    assert dev._counts(tmp_path / "missing.xml") == dev.Counts()


@pytest.mark.parametrize(
    ("count", "total", "places"), [(3, 9, {0, 3, 6}), (1, 4, {0}), (2, 5, {0, 2}), (4, 4, {0, 1, 2, 3}), (5, 2, {0, 1})]
)
def test_a_sample_is_spread(count: int, total: int, places: set[int]) -> None:
    assert spread(count, total) == places


@pytest.mark.parametrize(("version", "ours"), [((3, 9), False), ((3, 10), False), ((3, 11), True), ((3, 14), True)])
def test_a_system_python_is_taken_if_it_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], *, ours: bool
) -> None:
    system = tmp_path / "python3"
    seen = f"import sys; sys.version_info = {version}; exec(sys.argv[2])"
    system.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{seen}' \"$@\"\n", encoding="utf-8")
    system.chmod(0o700)
    monkeypatch.setattr(dev, "SYSTEM_PYTHON", system)
    assert dev.quick_python() == (str(system) if ours else sys.executable)


@pytest.mark.parametrize(
    ("text", "expression", "unread"),
    [
        ("\npytestmark = pytest.mark.kafka\n\n", "not component and not kafka", True),
        ("\npytestmark = [\n    pytest.mark.spark,\n    pytest.mark.timeout(9),\n]\n\n", "not spark", True),
        ("\npytestmark = pytest.mark.kafka\n\n", "kafka and not soak", False),
        ("@pytest.mark.component\ndef test_x() -> None: ...\n", "not component", False),
        ("@pytest.mark.component\ndef test_x() -> None: ...\n", "component and not soak", False),
        ("def test_x() -> None: ...\n", "component and not soak", True),
        ("@pytest.mark.component\ndef test_x() -> None: ...\n", "soak", False),
        ("def test_x() -> None: ...\n", "", False),
        ("def test_x() -> None: ...\n", "component or long", False),
    ],
)
def test_a_file_of_which_nothing_is_chosen_is_not_imported(
    tmp_path: Path, text: str, expression: str, unread: bool
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(text, encoding="utf-8")
    assert has_none(file, expression.split(" and ")) is unread


def test_marks_stand_where_the_tests_do() -> None:
    tests = Path(__file__).parent
    stages = re.compile(r"\bmark\.(component|library|oracle|kafka|spark|storm|install|browser|long)\b")
    elsewhere = [
        str(file)
        for file in tests.rglob("*.py")
        if not file.name.startswith("test_") and stages.search(file.read_text(encoding="utf-8"))
    ]
    assert elsewhere == []


@pytest.mark.parametrize(
    ("answers", "code", "told"),
    [
        ({"pypi": {"a": [], "b": []}}, 0, "no vulnerability of 2 packages is known"),
        ({"pypi": {"a": [], "b": ["CVE-1"]}}, 1, "b 1.0 is vulnerable: CVE-1"),
        ({"pypi": {"a": [], "b": None}, "osv": {"a": [], "b": []}}, 0, "no vulnerability of 2 packages is known"),
        ({"pypi": {"a": [], "b": None}, "osv": {"a": [], "b": ["CVE-2"]}}, 1, "b 1.0 is vulnerable: CVE-2"),
        ({"pypi": {"a": [], "b": None}, "osv": {"a": [], "b": None}}, dev.NOT_SET_UP, "  b: not found in osv"),
        ({"pypi": {"a": ["CVE-3"], "b": None}}, 1, "nothing is known of 1 of 2 packages"),
        (
            {"pypi": {"a": [], "b": None}},
            dev.NOT_SET_UP,
            "could not ask osv, which may be a fault of the network: no way",
        ),
        ({"osv": {"a": [], "b": []}}, 0, "could not ask pypi, which may be a fault of the network: no way"),
        ({}, dev.NOT_SET_UP, "nothing is known of 2 of 2 packages"),
    ],
)
def test_an_audit_tells_by_name_what_no_service_answered_for(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    answers: dict[str, dict[str, list[str] | None]],
    code: int,
    told: str,
) -> None:
    """Without --strict pip-audit passes over each package of which the service knows nothing, with exit code 0."""

    def run(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        service = words[words.index("--vulnerability-service") + 1]
        if service not in answers:
            return subprocess.CompletedProcess(words, 1, "", "Traceback\nno way\n")
        packages = [
            {"name": name, "skip_reason": f"not found in {service}"}
            if found is None
            else {"name": name, "version": "1.0", "vulns": [{"id": each} for each in found]}
            for name, found in answers[service].items()
        ]
        Path(words[words.index("--output") + 1]).write_text(json.dumps({"dependencies": packages}), encoding="utf-8")
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "_export", lambda *_: "a==1.0 \\\n    --hash=sha256:0\nb==1.0\n")
    monkeypatch.setattr(dev, "find_uv", lambda: "uv")
    monkeypatch.setattr("subprocess.run", run)
    assert dev.main(["audit"]) == code
    assert told in capsys.readouterr().err
