"""The cause is the first thing read: what `mlcheck run` shows of components that go wrong, on one screen."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.causes.model import Cause, Place
from multilang_cli.protocol.words.events import (
    Deadline,
    End,
    Exited,
    Fact,
    Gap,
    PidChecked,
    Signalled,
    Started,
    StdinClosed,
)
from multilang_cli.protocol.words.verdicts import Fate, Finding, Profile
from multilang_cli.reports import model
from multilang_cli.reports.formats.console import as_text, pretty_text
from multilang_cli.reports.formats.github import to_github
from multilang_cli.reports.formats.junit import to_junit
from multilang_cli.reports.formats.markdown import to_markdown
from multilang_cli.reports.formats.screen import fits_one_screen, render_screen
from multilang_cli.reports.formats.trouble import MOST_LINES, again_of
from multilang_cli.reports.grouping import told_first, troubles_of
from multilang_cli.reports.message_words import in_short, leading_to, telling, text_of_fact
from tests.command import SPOUT, mlcheck
from tests.flux import SHELL_BOLT, SHELL_SPOUT
from tests.results import ACK_TWICE, RULEBOOK, STRAY_TEXT, TWICE, finding, passed, result

if TYPE_CHECKING:
    from pathlib import Path

RAISES = '''"""A counting bolt."""
import json
import os
import sys


def read():
    text = "".join(iter(sys.stdin.readline, "end\\n"))
    return json.loads(text) if text else sys.exit(0)


def send(message):
    print(json.dumps(message) + "\\nend", flush=True)


def process(m):
    count = m["tuple"][1] + 1
    send({"command": "emit", "anchors": [m["id"]], "tuple": [count]})
    read()
    send({"command": "ack", "id": m["id"]})


open(f"{read()['pidDir']}/{os.getpid()}", "w").close()
send({"pid": os.getpid()})
while True:
    message = read()
    if message["stream"] == "__heartbeat":
        send({"command": "sync"})
    else:
        process(message)
'''

DEATH = Cause(
    id="dies-of-a-tuple",
    certainty="certain",
    rank=30,
    headline="it dies of a tuple: KeyError: 'x'",
    place=Place("bolt.py", 7, "t['x']", "~^^^^^"),
    first="Traceback (most recent call last):",
    last="KeyError: 'x'",
    seq=3,
    rules=("ack-twice",),
    mend="Catch it.",
    code="try: ...",
    language="python",
)


@pytest.mark.component
def test_an_exception_in_process_is_told_on_one_screen(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES, encoding="utf-8")
    ran = mlcheck("run", "-k", "bolt.settle.once", "--", sys.executable, "raises.py", cwd=tmp_path)
    lines = ran.stdout.splitlines()
    assert ran.returncode == 6
    assert lines[0].startswith("raises.py: a bolt, played as Storm ")
    assert lines[2] == "INCONCLUSIVE  it dies of a made-up tuple: IndexError: list index out of range"
    assert lines[4].split() == ["raises.py:17", "count", "=", 'm["tuple"][1]', "+", "1"]
    assert any(line.endswith("    <- made up by mlcheck") for line in lines)
    assert any(line.endswith("err   Traceback: ... IndexError: list index out of range") for line in lines)
    assert lines[-1].startswith("INCONCLUSIVE  ")
    assert lines[-1].endswith("; exit code 6")
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)


COUNTS = '    count = m["tuple"][1] + 1'
INSTEAD = {
    "stuck.py": "    threading.Event().wait()",
    "prints.py": '    print("counting %s" % m["id"])\n    return send({"command": "ack", "id": m["id"]})',
    "prints_and_logs.py": '    print("counting %s" % m["id"])\n    return send({"command": "log", "msg": "no 2nd"})',
    "logs.py": '    send({"command": "log", "msg": "cannot count %s" % m["id"]})\n    os._exit(3)',
}


@pytest.mark.component
@pytest.mark.parametrize("name", INSTEAD)
def test_the_line_is_named_where_no_traceback_names_it(name: str, tmp_path: Path) -> None:
    source = RAISES.replace("import sys\n", "import sys\nimport threading\n")
    (tmp_path / name).write_text(source.replace(COUNTS, INSTEAD[name]), encoding="utf-8")
    ran = mlcheck("run", "--kind", "bolt", "-k", "bolt.settle.once", "--", sys.executable, name, cwd=tmp_path)
    told = next(line.split(maxsplit=1) for line in ran.stdout.splitlines() if line.startswith(f"    {name}:"))
    number = source.splitlines().index(COUNTS) + 1
    assert told == [f"{name}:{number}", INSTEAD[name].splitlines()[0].strip()]


@pytest.mark.component
def test_a_run_tells_which_tuples_were_declared(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES, encoding="utf-8")
    told = ("--kind", "bolt", "--tuple", '["a", 1]', "-k", "handshake.context", "--report", "json=run.json")
    mlcheck("run", *told, "--", sys.executable, "raises.py", cwd=tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["profile"]["samples"] == [["a", 1]]


@pytest.mark.component
def test_a_recording_tells_the_same_cause(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES, encoding="utf-8")
    mlcheck("run", "--kind", "bolt", "-k", "bolt.settle.once", "--", sys.executable, "raises.py", cwd=tmp_path)
    recording = ".mlcheck/last/bolt.settle.once.ndjson"
    lines = mlcheck("lint", recording, cwd=tmp_path).stdout.splitlines()
    told = "it dies of a made-up tuple: IndexError: list index out of range"
    assert lines[2] == f"FAIL  {told}"
    assert lines[4].endswith(f"raises.py:{RAISES.splitlines().index(COUNTS) + 1}    {COUNTS.strip()}")
    assert len(lines) <= MOST_LINES
    assert lines[-1] == "FAIL  1 failed; exit code 1"
    assert f"  Cause     {told}" in mlcheck("lint", "-v", recording, cwd=tmp_path).stdout.splitlines()


@pytest.mark.component
def test_the_cause_comes_first_in_a_topology(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES, encoding="utf-8")
    spout, bolt = [sys.executable, str(SPOUT)], [sys.executable, "raises.py"]
    flux = {
        "name": "words",
        "spouts": [{"id": "spout", "className": SHELL_SPOUT, "constructorArgs": [spout, ["sentence"]]}],
        "bolts": [{"id": "bolt", "className": SHELL_BOLT, "constructorArgs": [bolt, ["word"]]}],
        "streams": [{"from": "spout", "to": "bolt", "grouping": {"type": "SHUFFLE"}}],
    }
    (tmp_path / "topology.yaml").write_text(json.dumps(flux), encoding="utf-8")
    lines = mlcheck("topology", "run", "--messages", "3", "topology.yaml", cwd=tmp_path).stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("FAIL"))
    table = next(number for number, line in enumerate(lines) if line.startswith("  component"))
    assert lines[at] == "FAIL  it dies of a tuple: IndexError: list index out of range"
    assert lines[at + 2].startswith("    raises.py:")
    assert any(line.startswith("    --> ") and "exit code 1" in line for line in lines[at:table])
    assert any(line.startswith("  In      bolt-") for line in lines[at:table])
    assert at < table <= MOST_LINES


@pytest.mark.parametrize(("samples", "marked"), [((), True), ((["a b", 1],), False)])
def test_a_declared_tuple_is_not_told_to_be_made_up(samples: tuple[list[object], ...], *, marked: bool) -> None:
    text = '{"id":"1","comp":"a","stream":"default","task":2,"tuple":["a b",1]}'
    fed = model.ExcerptLine(seq=4, t=0.1, channel="in", text=text)
    shown = result(with_cause(DEATH, verdict="untestable", excerpt=(fed,)))
    shown = msgspec.structs.replace(shown, profile=Profile(kind="bolt", samples=samples))
    assert ("made up by mlcheck" in as_text(lambda console: render_screen(shown, console))) is marked


@pytest.mark.parametrize("path", [".", "classes:lib/json-2.6.0.jar"])
def test_a_class_path_is_not_the_name_of_a_program(path: str) -> None:
    shown = result(with_cause(DEATH))
    shown = msgspec.structs.replace(shown, component=model.ComponentReport(command=("java", "-cp", path, "Bolt")))
    assert as_text(lambda console: render_screen(shown, console)).startswith("Bolt:")


def with_cause(cause: Cause, **changes: object) -> model.SubjectResult:
    return msgspec.structs.replace(TWICE, causes=(cause,), **changes)


def test_what_is_told_first_names_the_line_or_one_to_look_at() -> None:
    suspecting = msgspec.structs.replace(DEATH, place=None, suspect=Place("bolt.py", 9, "read()"))
    placed, suspected = (told_first(with_cause(cause)) for cause in (DEATH, suspecting))
    assert placed == "it dies of a tuple: KeyError: 'x' (bolt.py:7)"
    assert suspected == "it dies of a tuple: KeyError: 'x' (look at bolt.py:9)"


def test_one_exception_in_one_place_is_one_trouble_whatever_it_was_asked() -> None:
    unasked = msgspec.structs.replace(DEATH, id="dies-unasked", rank=22, headline="it dies unasked")
    elsewhere = msgspec.structs.replace(DEATH, place=Place("bolt.py", 9))
    shown = result(
        with_cause(DEATH, id="a"),
        with_cause(unasked, id="b", verdict="untestable"),
        with_cause(elsewhere, id="c"),
        *passed("d"),
    )
    first, second = troubles_of(shown)
    assert (first.cause.id, first.verdict) == ("dies-of-a-tuple", "fail")
    assert [subject.id for subject in first.subjects] == ["a", "b"]
    assert [subject.id for subject in second.subjects] == ["c"]
    text = as_text(lambda console: render_screen(shown, console))
    assert text.splitlines()[2] == "FAIL  it dies of a tuple: KeyError: 'x'"
    assert "  Also    fail, 1 case: it dies of a tuple: KeyError: 'x'" in text


def test_what_few_cases_show_comes_behind_what_nearly_all_show() -> None:
    killed = msgspec.structs.replace(DEATH, id="killed", rank=1, last="", place=None, headline="it is killed")
    often = [with_cause(DEATH, id=f"a{number}") for number in range(9)]
    assert [each.cause.id for each in troubles_of(result(with_cause(killed, id="k"), *often))][1] == "killed"
    assert troubles_of(result(with_cause(killed, id="k"), *often[:8]))[0].cause.id == "killed"


def test_what_one_case_could_not_judge_comes_behind_what_nearly_all_warn_of() -> None:
    large = msgspec.structs.replace(DEATH, id="holds-too-much", rank=2, last="", place=None, headline="it holds much")
    warned = [with_cause(DEATH, id=f"a{number}", verdict="warn") for number in range(9)]
    alone = with_cause(large, id="k", verdict="untestable")
    assert [each.cause.id for each in troubles_of(result(alone, *warned))][1] == "holds-too-much"
    assert troubles_of(result(alone, *warned[:8]))[0].cause.id == "holds-too-much"
    failed = msgspec.structs.replace(alone, verdict="fail")
    assert troubles_of(result(failed, *warned))[0].cause.id == "holds-too-much"


def test_the_caller_of_a_place_and_a_second_line_to_look_at_are_shown() -> None:
    also = Place("bolt.py", 9, "process(m)")
    called = msgspec.structs.replace(DEATH, also=also)
    assert "    bolt.py:9    process(m)    <- calls it" in screen_of(called)
    looks = msgspec.structs.replace(called, place=None, suspect=Place("bolt.py", 3, "ack(t)"))
    at = screen_of(looks).index("  Look    bolt.py:3    ack(t)")
    assert screen_of(looks)[at + 1] == "  and     bolt.py:9    process(m)"


def screen_of(cause: Cause) -> list[str]:
    """The lines of the screen of one failed case with this cause."""
    shown = result(with_cause(cause, id="a"), *passed("d"))
    return as_text(lambda console: render_screen(shown, console)).splitlines()


@pytest.mark.parametrize(("lines", "told"), [(1, "asked for none"), (4, "asked for none"), (6, "is empty")])
def test_a_silence_is_told_whole_or_in_fewer_words(lines: int, told: str) -> None:
    waits = (
        "; the component is blocked reading its stdin, which is empty: it waits for Storm, and Storm waits for the ack "
        "or fail of 20 tuples; no task ids are on their way: its last emit asked for none (need_task_ids is false)"
    )
    silent = Finding(rule="tuple-unsettled", level="should", seq=7, offset=0, message=f"open{waits}", fates={})
    cause = msgspec.structs.replace(
        DEATH, place=None, last="", rules=("tuple-unsettled",), code="a\n" * lines, mend="x " * 90
    )
    shown = result(with_cause(cause, id="a", verdict="warn", findings=(silent,)), *passed("d"))
    text = as_text(lambda console: render_screen(shown, console))
    row = text.partition("  Waits   ")[2].partition("\n  Do ")[0]
    assert "..." not in row
    assert told in row


def test_what_is_certain_in_few_of_a_trouble_does_not_speak_for_the_likely_many() -> None:
    likely = msgspec.structs.replace(DEATH, certainty="likely", last="", place=None, headline="it does so")
    certain = msgspec.structs.replace(likely, certainty="certain", headline="it does something")
    often = [with_cause(likely, id=f"a{number}") for number in range(5)]
    assert troubles_of(result(with_cause(certain, id="k"), *often))[0].cause.headline == "it does so"
    assert troubles_of(result(with_cause(certain, id="k"), *often[:4]))[0].cause.headline == "it does something"


def test_a_failure_without_a_cause_needs_more_than_a_screen_and_a_pass_does_not() -> None:
    assert not fits_one_screen(result(TWICE))
    right = result(*passed("d", "e"))
    assert fits_one_screen(right)
    lines = as_text(lambda console: render_screen(right, console)).splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[-1] == "PASS  2 passed  in 3.1s; exit code 0"
    assert fits_one_screen(result(with_cause(DEATH)))


def test_a_pass_shows_its_notes_and_names_what_was_not_tested() -> None:
    reused = Finding(rule="message-id-reused", level="note", seq=4, offset=0, message="a message id that is pending")
    untested = [msgspec.structs.replace(each, verdict="skip", reason="it is not declared") for each in passed(*"xyz")]
    noted = [msgspec.structs.replace(each, findings=(reused,)) for each in passed("d", "e")]
    right = msgspec.structs.replace(result(*noted, *untested), notes=("no samples were given",))
    lines = as_text(lambda console: render_screen(right, console)).splitlines()
    assert lines[2:-1] == [
        "Note  no samples were given",
        "Note  message-id-reused: a message id that is pending (in 2 cases, as d)",
        "Not tested  x, y, z: it is not declared (all of it: mlcheck run -v)",
    ]


def test_a_warning_stands_before_the_pass() -> None:
    shown = result(with_cause(DEATH, verdict="warn"), *passed("d"))
    assert shown.exit_code == 0
    lines = as_text(lambda console: render_screen(shown, console)).splitlines()
    assert lines[2] == "WARN  it dies of a tuple: KeyError: 'x'"
    assert lines[-1] == "PASS  1 passed, 1 warning  in 3.1s; exit code 0, 1 with --strict"


@pytest.mark.parametrize(("verdict", "last"), [("untestable", "INCONCLUSIVE"), ("fail", "FAIL")])
def test_a_warning_is_not_told_as_what_is_graver_beside_it(verdict: model.Verdict, last: str) -> None:
    lost = msgspec.structs.replace(TWICE, id="at-least-once", findings=(), causes=(), verdict=verdict)
    shown = result(with_cause(DEATH, verdict="warn"), lost)
    lines = as_text(lambda console: render_screen(shown, console)).splitlines()
    assert lines[2] == "WARN  it dies of a tuple: KeyError: 'x'"
    assert lines[-1].startswith(f"{last}  ")


def test_a_long_line_to_look_at_is_shown_from_what_it_is_about() -> None:
    code = "$self->emit(stream => 'default', tuple => [ map { lc } @words ], anchors => [ $words_seen ]);"
    at = code.index("anchors")
    likely = msgspec.structs.replace(
        DEATH, place=None, suspect=Place("tail_count.pl", 68, code, " " * at + "^"), headline="it anchors to a number"
    )
    text = as_text(lambda console: render_screen(result(with_cause(likely)), console))
    assert "Look    tail_count.pl:68    ...anchors => [ $words_seen ]);" in text


LONG_LINE = f"say({', '.join(f'word_{n}' for n in range(20))}, rates[currency])"


@pytest.mark.parametrize("mark", ["", " " * LONG_LINE.index("rates") + "^^^^^"])
def test_a_line_that_is_too_long_goes_on_in_a_second_row(mark: str) -> None:
    place = Place("bolt.rb", 25, LONG_LINE, mark)
    shown = screen_of(msgspec.structs.replace(DEATH, place=place))
    row = next(number for number, line in enumerate(shown) if "bolt.rb:25" in line)
    assert shown[row].endswith("word_6, wo")
    assert shown[row + 1].lstrip().startswith("...rates[currency]" if mark else "rd_7, ")
    assert len(shown) <= MOST_LINES


def test_a_single_case_says_what_it_did_and_several_do_not() -> None:
    few = [with_cause(DEATH, id="a", title="takes a conf of 1 MiB"), with_cause(DEATH, id="b")]
    only, shown = result(few[0], *passed(*"cdefgh")), result(*few, *passed(*"cdefgh"))
    common = result(*few, *passed("c"))
    text = as_text(lambda console: render_screen(only, console))
    assert "  Case    a: takes a conf of 1 MiB\n" in text
    text = as_text(lambda console: render_screen(shown, console))
    assert "  Cases   a, b\n" in text
    assert "cases end so" not in text
    text = as_text(lambda console: render_screen(common, console))
    assert "\n2 of 3 cases end so" in text
    assert "  Case " not in text


def test_an_observation_stands_beside_a_cause() -> None:
    run = msgspec.structs.replace(result(with_cause(DEATH, id="a"), *passed("d")), notes=("it was taken out",))
    assert "  Note  " not in as_text(lambda console: render_screen(run, console))
    told = model.Observation("replays-twice", "Twice for one fail")
    lines = as_text(lambda console: render_screen(run.observing(told), console)).splitlines()
    assert "  Note    Twice for one fail" in lines
    assert any(line.startswith("2 notes") for line in lines)


def test_an_observation_is_set_apart_on_a_pass() -> None:
    run = msgspec.structs.replace(result(*passed("d")), notes=("it was fed made-up tuples",))
    told = model.Observation("replays-twice", "Twice for one fail")
    shown = as_text(lambda console: render_screen(run.observing(told), console))
    assert "\nBut   Twice for one fail\nNote  it was fed made-up tuples\n" in shown


def test_what_is_said_of_all_cases_is_counted_as_none() -> None:
    whole = with_cause(DEATH, id="settling", kind="run")
    shown = result(whole, with_cause(DEATH, id="a"), with_cause(DEATH, id="b"), *passed("c"))
    text = as_text(lambda console: render_screen(shown, console))
    assert "; 3 cases in " in text
    assert "\n2 of 3 cases end so" in text
    assert "1 passed, 2 failed, settling failed" in text


def test_a_single_case_is_not_counted_of_one() -> None:
    whole = with_cause(DEATH, id="settling", kind="run")
    text = as_text(lambda console: render_screen(result(whole, with_cause(DEATH, id="a")), console))
    assert "1 failed, settling failed" in text
    assert "end so" not in text


def test_one_type_of_exception_in_one_place_is_one_trouble() -> None:
    other = msgspec.structs.replace(DEATH, last="KeyError: 'y'", headline="it dies of a tuple: KeyError: 'y'")
    unlike = msgspec.structs.replace(DEATH, last="ValueError: 'y'", headline="it dies of a tuple: ValueError: 'y'")
    shown = result(with_cause(DEATH, id="a"), with_cause(other, id="b"), with_cause(unlike, id="c"))
    assert [len(trouble.subjects) for trouble in troubles_of(shown)] == [2, 1]


def test_what_is_least_telling_goes_first_where_a_screen_is_full() -> None:
    wordy = msgspec.structs.replace(DEATH, headline="words " * 900, last="", mend="words " * 900, code="1\n2")
    rows = tuple(model.ExcerptLine(seq=n, t=0.0, channel="in", text=f"[{n}]", mark=n == 9) for n in range(10))
    stderr = "".join(f"line {n}\n" for n in range(40))
    others = [
        with_cause(msgspec.structs.replace(DEATH, headline=f"no {n}"), id=f"b{n}", verdict="warn") for n in range(9)
    ]
    full = result(with_cause(wordy, excerpt=rows, stderr_tail=stderr), *others)
    lines = as_text(lambda console: render_screen(full, console)).splitlines()
    assert len(lines) <= MOST_LINES
    assert all(len(line) <= 80 for line in lines)
    assert any("--> 9  in    task ids  [9]" in line for line in lines)
    assert any("| line 39" in line for line in lines)
    assert any(line.startswith("  Also    warning, 9 cases: no 0") for line in lines)


@pytest.mark.parametrize(
    ("mend", "shown"),
    [
        ("Do this. Do that.", "Do this. Do that."),
        (f"Do this; then, {'and so on ' * 40}.", "Do this."),
        (f"Do this, {'and so on ' * 40}.", "Do this."),
        (f"Do {'this ' * 90}.", "this this ..."),
    ],
)
def test_what_is_to_be_done_is_cut_between_sentences_or_words(mend: str, shown: str) -> None:
    lines = screen_of(msgspec.structs.replace(DEATH, mend=mend, code=""))
    begin = next(number for number, line in enumerate(lines) if line.startswith("  Do "))
    end = next(number for number, line in enumerate(lines) if line.startswith("  More "))
    assert "".join(lines[begin:end]).endswith(shown)


def test_what_is_likely_says_so_and_a_long_command_is_left_to_the_recording() -> None:
    likely = msgspec.structs.replace(DEATH, certainty="likely")
    long = with_cause(likely, reproduce=f"mlcheck run {'x' * 99} -- bolt.py", transcript=".mlcheck/last/a.ndjson")
    text = as_text(lambda console: render_screen(result(long), console))
    assert text.splitlines()[2].startswith("FAIL  likely: it dies")
    assert "  Again   mlcheck replay .mlcheck/last/a.ndjson -- bolt.py\n" in text


def test_the_log_is_of_what_storm_meets_first() -> None:
    dies: dict[str, Fate] = {"2.8.3": "dies"}
    anchor = Finding(rule="anchor-unknown", level="must", seq=5, offset=0, message="m", fates=dies)
    anchor = msgspec.structs.replace(anchor, errors={"2.8.3": "Anchored onto 9 after ack/fail"})
    ack = Finding(rule="ack-twice", level="must", seq=7, offset=0, message="m", fates=dies)
    text = as_text(lambda console: render_screen(result(with_cause(DEATH, findings=(ack, anchor))), console))
    assert 'its log of message 5 says "Anchored onto 9 after ack/fail"' in " ".join(text.split())


def test_what_storm_survives_says_why_it_is_a_failure() -> None:
    lives: dict[str, Fate] = {"2.8.3": "survives"}
    found = Finding(rule="ack-twice", level="must", seq=7, offset=0, message="m", fates=lives)
    text = as_text(lambda console: render_screen(result(with_cause(DEATH, findings=(found,))), console))
    assert "every version: goes on; a failure all the same" in " ".join(text.split())


@pytest.mark.parametrize(
    ("fates", "told"),
    [
        ("dies dies dies dies", "every version: "),
        ("survives dies dies dies", "1.2.4 and newer: "),
        ("survives survives survives dies", "2.8.3: "),
        ("dies survives dies dies", "2.8.3, 2.5.0, 0.9.7: "),
        ("dies survives survives dies", "2.8.3, 0.9.7: "),
        ("survives survives dies dies", "2.5.0 and newer: "),
    ],
)
def test_versions_are_told_in_a_few_words(fates: str, told: str) -> None:
    by_version: dict[str, Fate] = dict(zip(("0.9.7", "1.2.4", "2.5.0", "2.8.3"), fates.split(), strict=True))  # type: ignore[arg-type]
    found = Finding(rule="ack-twice", level="must", seq=3, offset=0, message="m", fates=by_version)
    text = as_text(lambda console: render_screen(result(with_cause(DEATH, findings=(found,))), console))
    assert f"  Storm   {told}the worker dies" in text


@pytest.mark.parametrize(
    ("channel", "text", "expected"),
    [
        ("in", '{"id":"1","comp":"s","stream":"default","task":2,"tuple":["a",1]}', 'tuple  ["a", 1]  "1"'),
        ("in", '{"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}', "heartbeat"),
        ("in", '{"id":"9","comp":"__system","stream":"__tick","task":-1,"tuple":[1]}', "tick   [1]"),
        ("in", "[4]", "task ids  [4]"),
        ("in", '{"command":"ack","id":"m1"}', 'ack  "m1"'),
        ("in", '{"command":"next","id":""}', "next"),
        ("out", '{"command":"sync"}', "sync"),
        ("out", '{"command":"log","msg":"x"}', 'log  "x"'),
        ("out", '{"pid": 12}', '{"pid": 12}'),
        ("out", "no JSON", "no JSON"),
        ("out", "", "(an empty line, and `end`)"),
        ("out", '{"command":"emit","id":1,"tuple":["a"],"anchors":[]}', 'emit  ["a"]  id 1'),
        ("out", '{"command":"emit","tuple":["a"],"anchors":["7"]}', 'emit  ["a"]  anchors ["7"]'),
        ("err", "a\nTraceback (most recent call last):\nKeyError: 'x'\n", "Traceback: ... KeyError: 'x'"),
    ],
)
def test_messages_are_told_in_a_few_words(channel: str, text: str, expected: str) -> None:
    row = model.ExcerptLine(seq=1, t=0.0, channel=channel, text=text)  # type: ignore[arg-type]
    assert in_short(row, DEATH) == expected


def test_of_anchors_that_are_wrong_they_stand_before_the_values() -> None:
    text = '{"command":"emit","anchors":["7"],"tuple":["x"],"id":1}'
    row = model.ExcerptLine(seq=9, t=0.0, channel="out", text=text)
    assert in_short(row, DEATH) == 'emit  ["x"]  id 1  anchors ["7"]'
    settled = msgspec.structs.replace(DEATH, rules=("anchor-settled",))
    assert in_short(row, settled) == 'emit  anchors ["7"]  id 1  ["x"]'


def test_the_cause_stands_first_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bolt.py").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = result(with_cause(DEATH))
    first = "it dies of a tuple: KeyError: 'x' (bolt.py:7)"
    assert f'message="{first}"' in to_junit(shown, RULEBOOK)
    annotation = next(line for line in to_github(shown, RULEBOOK).splitlines() if line.startswith("::error"))
    assert annotation.startswith("::error file=bolt.py,line=7,title=FAIL it dies of a tuple%3A KeyError")
    assert f"**Cause:** `{first}`" in to_markdown(shown, RULEBOOK)
    assert f"Cause     {first}" in pretty_text(shown, RULEBOOK)
    told = {"junit": to_junit, "github": to_github, "markdown": to_markdown, "pretty": pretty_text}
    lacking = [
        name
        for name, tell in told.items()
        if "Catch it." not in (said := tell(shown, RULEBOOK)) or "try: ..." not in said
    ]
    assert not lacking
    assert "mlcheck explain dies-of-a-tuple" in pretty_text(shown, RULEBOOK)


def test_a_hang_names_who_waits_on_whom() -> None:
    silent = Finding(
        rule="sync-missing",
        level="must",
        seq=3,
        offset=0,
        message="no sync of 'ack' within 5 s; the component is reading its stdin; Storm waits for its sync; no ids",
    )
    cause = msgspec.structs.replace(DEATH, id="no-sync", place=None, last="", rules=("sync-missing",))
    text = as_text(lambda console: render_screen(result(with_cause(cause, findings=(silent,))), console))
    assert ("  Waits   the component is reading its stdin; Storm waits for its sync; no ids\n") in text


def test_a_process_that_left_others_behind_names_them() -> None:
    text = "exit code 3; but process 7 (sh), which it left behind, holds its stdin"
    row = model.ExcerptLine(seq=1, t=0.0, channel="process", text=text, mark=True, note="the process exited")
    assert in_short(row, DEATH) == "the process exited; but process 7 (sh), which it left behind, holds its stdin"


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        (Exited(code=3), "exit code 3"),
        (Exited(signal=9, holders=("7 holds its stdin", "x")), "killed by signal 9; but 7 holds its stdin; but x"),
        (Deadline("sync", 5.0, facts="in the pipes: stdin 0 bytes; so far 1 byte of stdout"), "no sync for 5 s"),
        (Deadline("pid", 5.0, proven=True), "it will say nothing more"),
        (Gap("a part; in between"), "Gap(why='a part; in between', events=None)"),
    ],
)
def test_what_is_written_of_a_fact_is_read_again(fact: Fact, shown: str) -> None:
    row = model.ExcerptLine(seq=1, t=0.0, channel="process", text=text_of_fact(fact, 400))
    assert in_short(row, DEATH) == shown
    assert telling([row], DEATH, 9) == [row]


@pytest.mark.parametrize(
    "fact", [Started(("a",), 1), PidChecked(1, "self", "empty"), StdinClosed(), Signalled(15), End()]
)
def test_what_every_process_does_is_not_shown(fact: Fact) -> None:
    row = model.ExcerptLine(seq=1, t=0.0, channel="process", text=text_of_fact(fact, 400))
    assert telling([row], DEATH, 9) == []


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (("starting\n", "Traceback (most recent call last):\n", "KeyError: 'x'\n"), ["KeyError: 'x'\n"]),
        (("starting\n", "ready\n"), []),
    ],
    ids=["on stderr", "told to Storm"],
)
def test_what_stderr_held_before_an_exception_is_not_shown_as_it(texts: tuple[str, ...], kept: list[str]) -> None:
    rows = [model.ExcerptLine(seq=n, t=0.0, channel="err", text=text) for n, text in enumerate(texts)]
    assert [row.text for row in telling(rows, DEATH, 9)] == kept


@pytest.mark.parametrize(
    ("channels", "most", "kept"),
    [
        (("err", "in", "out", "in", "err", "control"), 2, [3, 5]),
        (("err", "in", "out", "in", "err", "control"), 3, [3, 4, 5]),
        (("err", "in", "out", "in", "control"), 3, [0, 3, 4]),
        (("err", "out", "out", "control"), 2, [0, 3]),
    ],
)
def test_what_was_asked_last_is_shown_in_the_least_room(channels: tuple[Any, ...], most: int, kept: list[int]) -> None:
    rows = [
        model.ExcerptLine(seq=n, t=0.0, channel=channel, text="{}", mark=channel == "control")
        for n, channel in enumerate(channels)
    ]
    cause = msgspec.structs.replace(DEATH, last="")
    assert [row.seq for row in telling(rows, cause, most)] == kept


@pytest.mark.parametrize(
    ("marks", "seq", "rules", "last"),
    [
        ((3, 5, 7), None, ("ack-twice",), 3),
        ((3, 5, 7), 5, ("ack-twice",), 5),
        ((3, 5, 7), None, ("stray-text",), 7),
        ((3, 5, 7), None, (), 3),
        ((), None, ("ack-twice",), 8),
    ],
)
def test_messages_lead_to_the_finding_that_storm_is_told_of(
    marks: tuple[int, ...], seq: int | None, rules: tuple[str, ...], last: int
) -> None:
    rows = tuple(model.ExcerptLine(seq=n, t=0.0, channel="out", text="{}", mark=n in marks) for n in range(9))
    found = (finding(ACK_TWICE, "ack", 3), finding(ACK_TWICE, "ack", 5), finding(STRAY_TEXT, "text", 7))
    subject = msgspec.structs.replace(TWICE, excerpt=rows, findings=found)
    cause = msgspec.structs.replace(DEATH, seq=seq, rules=rules)
    assert [row.seq for row in leading_to(cause, subject)] == list(range(last + 1))


@pytest.mark.component
def test_a_recording_shows_the_message_whose_id_is_in_the_log(tmp_path: Path) -> None:
    ack = '    send({"command": "ack", "id": m["id"]})\n'
    works = RAISES[: RAISES.index("    count =")] + ack + ack + RAISES[RAISES.index("\n\nopen(") :]
    (tmp_path / "twice.py").write_text(works, encoding="utf-8")
    mlcheck("run", "-k", "bolt.settle.once", "--record", "t", "--", sys.executable, "twice.py", cwd=tmp_path)
    ran = mlcheck("lint", "t", cwd=tmp_path)
    marked = re.search(r'--> +\d+  out   ack  "(-?\d+)"', ran.stdout)
    assert marked
    assert f"already acked/failed id: {marked[1]}" in " ".join(ran.stdout.split())


@pytest.mark.parametrize(
    ("reproduce", "named", "again"),
    [
        ("mlcheck run -k c -- ./b.py", False, "mlcheck run -k c -- ./b.py"),
        (f"mlcheck run --tuple '[\"{'x' * 60}\"]' -k c -- ./b.py", False, "mlcheck replay t.ndjson -- ./b.py"),
        (f"mlcheck run --tuple '[\"{'x' * 60}\"]' -k c -- ./b.py", True, "mlcheck replay t.ndjson"),
        (f"mlcheck run -k c -- ./{'b' * 50}.py", False, f"mlcheck replay t.ndjson \\\n-- ./{'b' * 50}.py"),
        (f"mlcheck run -k c -- ./{'b' * 70}.py", False, "mlcheck replay t.ndjson \\\n-- COMMAND"),
    ],
)
def test_what_shows_it_again_fits_a_line_and_runs_as_it_stands(reproduce: str, again: str, *, named: bool) -> None:
    subject = msgspec.structs.replace(with_cause(DEATH), reproduce=reproduce, transcript="t.ndjson")
    assert again_of(subject, 70, named=named) == again


def test_what_stands_beside_a_cause_has_two_lines_where_there_is_room() -> None:
    told = model.Observation(
        "replays-none", "it emitted none of the tuples again " + "that failed and were asked for " * 9
    )
    shown = as_text(lambda console: render_screen(result(with_cause(DEATH)).observing(told), console)).splitlines()
    first = next(number for number, line in enumerate(shown) if line.startswith("  Note    it emitted none"))
    assert shown[first + 1].startswith(" " * 10 + "that failed")
    assert shown[first + 1].endswith(" ...")


@pytest.mark.parametrize(
    ("verdicts", "causes", "first"),
    [(["fail"], 1, "FAIL"), (["warn"], 1, "Note"), (["warn", "fail"], 2, "FAIL"), (["warn", "fail"], 1, "WARN")],
    ids=["failed", "warned", "warned and failed", "warned and failed without a cause"],
)
def test_beside_a_mere_warning_a_note_stands_first(verdicts: list[model.Verdict], causes: int, first: str) -> None:
    told = model.Observation("replays-none", "it emitted none of the tuples again " + "that failed " * 40)
    subjects = [
        msgspec.structs.replace(
            with_cause(msgspec.structs.replace(DEATH, headline=f"it dies of {n}", place=None, last="", id=f"c{n}")),
            verdict=verdict,
        )
        for n, verdict in enumerate(verdicts)
    ]
    subjects[causes:] = [msgspec.structs.replace(each, causes=()) for each in subjects[causes:]]
    seen = result(*subjects).observing(told)
    shown = as_text(lambda console: render_screen(seen, console)).splitlines()
    assert shown[2].split()[0] == first
    assert sum("it emitted none of the tuples again" in line for line in shown) <= 1
    assert len(shown) <= MOST_LINES


@pytest.mark.parametrize(
    ("fates", "told"), [("dies dies", "0.9.3 and newer: "), ("survives dies", "2.8.3: ")], ids=["all", "some"]
)
def test_since_when_it_is_so_is_told_where_all_versions_do_the_same(fates: str, told: str) -> None:
    by_version: dict[str, Fate] = dict(zip(("2.5.0", "2.8.3"), fates.split(), strict=True))  # type: ignore[arg-type]
    found = Finding(rule="ack-twice", level="must", seq=3, offset=0, message="m", fates=by_version)
    cause = msgspec.structs.replace(DEATH, since="0.9.3")
    text = as_text(lambda console: render_screen(result(with_cause(cause, findings=(found,))), console))
    assert f"  Storm   {told}the worker dies" in text
