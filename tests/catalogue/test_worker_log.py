"""What a worker's log says is recognised: every text that the real classes were seen to write, and whole logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue import loader, locate
from multilang_cli.catalogue.oracle import oracle_verdicts, rules_of_scripts
from multilang_cli.catalogue.worker_log import load_index, process_of
from multilang_cli.reports.explaining.worker_log import read_log
from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path

TWO_FAULTS = frozenset(
    {
        "bolt-direct-task-zero-dir",
        "bolt-direct-undeclared",
        "bolt-emit-undeclared-missing",
        "spout-direct-undeclared",
    }
)
"""Scripts with a second fault, of which this Storm dies first."""

DEATH = """\
2026-11-20 10:00:00.001 o.a.s.d.executor main [INFO] Prepared bolt split:(3)
2026-11-20 10:00:01.123 o.a.s.t.ShellBolt Thread-40 [ERROR] Halting process: ShellBolt died. \
Command: [python3, split.py], ProcessInfo pid:4711, \
name:split exitCode:{code}, errorString:ImportError: No module named nltk
java.lang.RuntimeException: org.apache.storm.multilang.NoOutputException: \
Pipe to subprocess seems to be broken! No output read.
Serializer Exception:
	at org.apache.storm.utils.ShellProcess.readShellMsg(ShellProcess.java:101) ~[storm-client-2.8.3.jar:2.8.3]
"""

ERRORS = {
    (script, version): "\n".join(verdict["error"])
    for script, verdicts in oracle_verdicts().items()
    for version, verdict in verdicts.items()
    if verdict["verdict"] == "rejected" and verdict.get("error")
}


@pytest.mark.long
def test_every_error_of_real_storm_is_recognised() -> None:
    recognise = load_index().recognise
    assert len(ERRORS) > 1000
    assert [key for key, text in ERRORS.items() if not any(each.rules for each in recognise(text))] == []


def test_the_rules_of_a_script_are_among_the_causes_of_its_error() -> None:
    index, missed = load_index(), []
    for (script, version), text in ERRORS.items():
        rules = rules_of_scripts().get(script, ())
        named = {rule for each in index.recognise(text) for rule in each.rules}
        if rules and script not in TWO_FAULTS and not named & set(rules):
            missed.append((script, version, text))
    assert missed == []


@pytest.mark.parametrize(
    ("text", "rule", "certain"),
    [
        ("java.io.IOException: unable to parse: starting up\n\tat backtype", "stdout-text", True),
        ("java.io.IOException: Unexpected character (s) at position 0.", "stdout-text", False),
        ("java.lang.ClassCastException: java.lang.Integer cannot be cast to java.lang.Long", "direct-emit", False),
        ("subprocess\n  heartbeat   timeout", "heartbeat-timeout", False),
        ("x Acked a non-existent or already acked/failed id: -42\n", "ack-twice", False),
        (
            'Pipe to subprocess seems to be broken! Currently read output: {"command":"ack","id":"1"}\n',
            "message-cut",
            True,
        ),
    ],
)
def test_the_likeliest_rule_comes_first(text: str, rule: str, certain: bool) -> None:
    (first, *_) = load_index().recognise(text)
    assert first.rules[0] == rule
    assert bool(first.certain) == certain


def test_text_of_other_programs_is_not_recognised() -> None:
    assert load_index().recognise("java.sql.SQLException: no connection (pool exhausted)\n\tat com.example.Pool") == []


@pytest.mark.parametrize("code", [-1, 1])
def test_the_process_is_read_from_the_text(code: int) -> None:
    process = process_of(DEATH.format(code=code))
    assert process is not None
    assert (process.command, process.name, process.code) == (("python3", "split.py"), "split", code)
    assert process.stderr == "ImportError: No module named nltk"


def test_the_exception_behind_an_empty_stderr_is_not_taken_for_what_the_process_said() -> None:
    """Storm puts its own exception below the line, where the component said nothing."""
    process = process_of(
        "Halting process: ShellBolt died. Command: [python3, split.py], ProcessInfo pid:4711, name:split exitCode:-1, "
        "errorString: \njava.lang.ClassCastException: class java.lang.String cannot be cast to class "
        "org.apache.storm.shade.net.minidev.json.JSONObject\n\tat org.apache.storm.multilang.JsonSerializer"
    )
    assert process is not None
    assert process.stderr == ""


def test_a_log_is_summed_up_with_line_numbers_and_counts() -> None:
    summary = read_log((DEATH.format(code=1) * 3 + "x\n" * 50).splitlines())
    broken = next(each for each in summary.found if each.what.entry.text.startswith("Pipe to"))
    assert (broken.line, broken.times, summary.lines) == (3, 3, 65)
    assert summary.unknown == []


def test_an_error_of_a_shell_class_that_is_not_known_is_counted() -> None:
    summary = read_log(["o.a.s.t.ShellBolt Thread-1 [ERROR] the moon is full", "nothing"])
    assert (summary.found, summary.unknown) == ([], [1])


BELOW = """\
java.lang.RuntimeException: org.apache.storm.multilang.NoOutputException: \
Pipe to subprocess seems to be broken! No output read.
Serializer Exception:
Traceback (most recent call last):
  File "split.py", line 71, in <module>
    main()
  File "split.py", line 49, in process
    word = values["word"]
KeyError: 'word'

\tat org.apache.storm.utils.ShellProcess.readShellMsg(ShellProcess.java:127) ~[storm-client-2.8.3.jar:2.8.3]
"""
"""As of Storm 0.9.3: stderr that was not read yet stands behind the exception, and errorString is empty."""


def test_the_stderr_behind_the_exception_is_what_it_said() -> None:
    process = process_of(DEATH.partition("errorString:")[0].format(code=-1) + "errorString: \n" + BELOW)
    assert process is not None
    assert (process.name, process.stderr, process.place) == ("split", "KeyError: 'word'", "split.py:49")
    alone = process_of(BELOW)
    assert alone is not None
    assert (alone.name, alone.stderr, alone.place) == ("", "KeyError: 'word'", "split.py:49")
    thrown = "/b.js:3\n    throw 1\n    ^\n\nError: no\n    at work (/b.js:3:5)\n    at main (/b.js:9:1)"
    node = process_of(f"Serializer Exception:\n{thrown}\n\n\tat java.base/java.lang.Thread.run(Thread.java:840)")
    assert node is not None
    assert (node.stderr, node.place) == ("Error: no", "/b.js:3")
    assert (
        process_of("Pipe to subprocess seems to be broken! No output read.\nSerializer Exception:\n\n\n\tat a.B.c")
        is None
    )


@pytest.mark.component
def test_a_log_tells_the_command_and_the_line_that_died(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    head = DEATH.partition("errorString:")[0].format(code=-1)
    log.write_text(f"{head}errorString: \n{BELOW}", encoding="utf-8")
    shown = mlcheck("explain", "--log", str(log), cwd=tmp_path).stdout
    assert "  Line      split.py:49\n  It said   KeyError: 'word'\n" in shown
    assert "mlcheck run -- python3 split.py" in shown


@pytest.mark.component
def test_explain_takes_a_pasted_error(tmp_path: Path) -> None:
    shown = mlcheck("explain", DEATH.format(code=1), cwd=tmp_path)
    assert shown.returncode == 0
    assert "exited" in shown.stdout
    assert "mlcheck run -- python3 split.py" in shown.stdout
    assert "ImportError: No module named nltk" in shown.stdout


@pytest.mark.component
def test_explain_takes_words_without_quotes(tmp_path: Path) -> None:
    shown = mlcheck("explain", "log:", "Pipe", "to", "subprocess", "seems", "to", "be", "broken", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("Pipe to subprocess seems to be broken! No output read.")


@pytest.mark.component
def test_explain_reads_a_log_file(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_bytes(DEATH.format(code=-1).encode() + b"\xff\xfe\n")
    shown = mlcheck("explain", "--log", str(log), cwd=tmp_path)
    assert shown.returncode == 0
    assert "once in line 3" in shown.stdout
    assert "Storm asked too early" in " ".join(shown.stdout.split())


@pytest.mark.component
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["explain"], 2, "--log FILE"),
        (["explain", "ack-twice", "--log", "x"], 2, "--log FILE"),
        (["explain", "--log", "nowhere.log"], 2, "No such file"),
        (["explain", "the moon is full"], 2, "no text of Storm's shell classes"),
        (["explain", "org.apache.storm.multilang.NoOutputException"], 2, "Paste an error's whole line"),
        (["explain", "ack-twcie"], 2, "ack-twice"),
    ],
)
def test_explain_says_what_is_wrong(arguments: list[str], code: int, said: str, tmp_path: Path) -> None:
    shown = mlcheck(*arguments, cwd=tmp_path)
    assert shown.returncode == code
    assert said in " ".join(shown.stderr.split())


@pytest.mark.component
def test_a_log_without_shell_components_is_told(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("all is well\n", encoding="utf-8")
    shown = mlcheck("explain", "--log", str(log), cwd=tmp_path)
    assert shown.returncode == 4
    assert "nothing that Storm's shell classes write" in " ".join(shown.stderr.split())


def test_the_data_holds_to_its_schema_and_names_rules() -> None:
    path = locate.data_path("conformance", "worker-log.yaml")
    assert loader.problems(path, "worker-log") == []
    named = {rule for entry in load_index().entries for rule in entry.rules}
    assert named <= set(loader.load_rules())


PARTS = {
    "No output read": ["Pipe to subprocess seems to be broken! No output read."],
    "subprocess HEARTBEAT  timeout": ["subprocess heartbeat timeout"],
    "my worker log says pipe to subprocess seems to be broken": [
        "Pipe to subprocess seems to be broken! No output read.",
        "Pipe to subprocess seems to be broken! Currently read output:",
        "Pipe to subprocess seems to be broken! Currently read output: ...",
    ],
    "it says 'Subprocess heartbeat timeout', and dies": ["subprocess heartbeat timeout"],
    "Unexpected character (h) at position 0.": [
        "java.io.IOException: Unexpected character (...) at position ...",
        "net.minidev.json.parser.ParseException: Unexpected character (...) at position ...",
    ],
    "Caused by: unable to parse: hello": ["java.io.IOException: unable to parse: ..."],
    'For input string: "99999999999999999999"': ["java.lang.NumberFormatException: For input string: ..."],
    "it hangs": [],
    "died": [],
    "this is an error of the component": [],
    "no heartbeat": [],
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_text_says_which_one_is_meant(part: str) -> None:
    assert [each.entry.text for each in load_index().holding(part)] == PARTS[part]


@pytest.mark.parametrize(
    ("part", "rule"),
    [
        ("Unexpected character (h) at position 0.", "stdout-text"),
        ("unable to parse: {'command': 'ack'}", "json-single-quotes"),
    ],
)
def test_a_text_without_its_class_has_the_causes_of_the_whole(part: str, rule: str) -> None:
    index = load_index()
    alone, whole = index.holding(part)[0], index.recognise(f"java.io.IOException: {part}")[0]
    assert (alone.rules, alone.certain) == (whole.rules, whole.certain)
    assert alone.rules[0] == rule


def test_a_spouts_process_is_told_by_the_last_line_of_its_stderr() -> None:
    text = (
        "java.lang.RuntimeException: pid:31, name:words exitCode:1, errorString:Traceback (most recent call last):\n"
        '  File "words.py", line 3, in next\nKeyError: "word"\n\tat org.apache.storm.spout.ShellSpout.querySubprocess\n'
    )
    process = process_of(text)
    assert process is not None
    assert (process.command, process.name, process.code, process.stderr) == ((), "words", 1, 'KeyError: "word"')


@pytest.mark.component
def test_the_line_that_names_the_process_is_a_text_of_its_own(tmp_path: Path) -> None:
    """It is the one that Storm's UI shows."""
    line = "java.lang.RuntimeException: pid:12, name:split exitCode:1, errorString:KeyError: 3"
    ran = mlcheck("explain", line, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Process   split: exit code 1" in ran.stdout
    assert "It said   KeyError: 3" in ran.stdout
