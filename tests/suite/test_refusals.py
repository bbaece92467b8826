"""Who is to blame for a death, a failed tuple or silence: the tuple that was made up, or the component."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.subject.options import Component, InputSource, RunOptions, StreamDeclaration
from multilang_cli.suite.runner.suite_run import run_suite
from tests.sessions import PID

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import RunResult

pytestmark = pytest.mark.component

CODE = """
import signal, time
hello = shake()
fed = 0
while True:
    tup = message()
    if isinstance(tup, list): continue
    if tup["stream"] == "__heartbeat":
        say('{"command":"sync"}\\nend\\n')
        continue
    fed += 1
    answer = "ack"
    %s
    say('{"command":"%%s","id":"%%s"}\\nend\\n' %% (answer, tup["id"]))
"""
CASES = ("bolt.heartbeat.idle", "bolt.heartbeat.around-tuple", "bolt.settle.once")


def played(tmp_path: Path, deed: str, *cases: str, **declared: Any) -> RunResult:
    script = tmp_path / "bolt.py"
    script.write_text(PID + CODE % deed)
    component = Component(command=(sys.executable, "-I", "-S", str(script)), **declared)
    options = RunOptions(record=str(tmp_path), include=cases or CASES, timeout=5.0)
    return run_suite(component, options)


REFUSES = {
    'tup["tuple"][1]': "it dies of a made-up tuple: IndexError: list index out of range; give a sample",
    '{}["user"]': "it dies of a made-up tuple: KeyError: 'user'; tell the names of its input's fields (--input ",
    "sys.exit(7)": "it dies of a made-up tuple: exit code 7; give a sample",
    "os.kill(os.getpid(), signal.SIGSEGV)": "it dies of a made-up tuple: killed by signal 11; give a sample",
    'answer = "fail"': "it fails a made-up tuple; give a sample",
}


@pytest.mark.parametrize(
    ("end", "verdict"), [("sys.exit(7)", "skip"), ("os.kill(os.getpid(), signal.SIGSEGV)", "untestable")]
)
def test_a_fault_of_memory_at_a_large_text_is_no_refusal(tmp_path: Path, end: str, verdict: str) -> None:
    result = played(tmp_path, f'if len(tup["tuple"][0]) > 10_000: {end}', "bolt.settle.once", "bolt.value.large")
    assert [each.verdict for each in result.subjects] == ["pass", verdict]


@pytest.mark.parametrize(
    ("behind", "verdicts"),
    [("pass", ["pass", "untestable"]), ("if gone: continue", ["pass", "warn", "untestable"])],
    ids=["settles on", "settles no more"],
)
def test_who_settles_nothing_behind_what_it_fails_is_told_so(tmp_path: Path, behind: str, verdicts: list[str]) -> None:
    deed = f"""
    gone = globals().get("gone")
    {behind}
    if len(tup["tuple"][0]) > 10_000: answer = gone = "fail"
    """
    result = played(tmp_path, deed.strip(), "bolt.settle.once", "bolt.value.large")
    # The last is of the run: it settles two of some hundred.
    assert [each.verdict for each in result.subjects] == verdicts


@pytest.mark.parametrize("deed", REFUSES)
def test_what_a_bolt_does_at_its_first_made_up_tuple_says_nothing(tmp_path: Path, deed: str) -> None:
    result = played(tmp_path, deed)
    verdicts = {each.id: each.verdict for each in result.subjects}
    assert verdicts == dict(zip(CASES, ("pass", "untestable", "untestable"), strict=True))
    reasons = [each.reason for each in result.subjects if each.verdict == "untestable"]
    assert all(reason.startswith(REFUSES[deed]) for reason in reasons), reasons
    assert result.exit_code == 6


@pytest.mark.parametrize(("word", "code"), [("end", 1), ("snow", 6)])
def test_who_takes_a_line_end_for_a_tuple_is_not_excused_by_what_we_made_up(
    tmp_path: Path, word: str, code: int
) -> None:
    perl = f'Can\'t use string (\\"{word}\\") as a HASH ref while \\"strict refs\\" in use at rows.pl line 23.'
    assert played(tmp_path, f'sys.stderr.write("{perl}\\n"); sys.exit(25)').exit_code == code


def test_what_is_thrown_at_the_end_is_no_reason_for_a_fail(tmp_path: Path) -> None:
    text = 'Traceback (most recent call last):\\\\n  File \\\\"bolt.py\\\\", line 1\\\\n%s'
    told = f"""say('{{"command":"error","msg":"{text % "ValueError: two values"}"}}\\nend\\n'); answer = "fail"
    import atexit; atexit.register(say, '{{"command":"error","msg":"{text % "EOFError: at the end"}"}}\\nend\\n')"""
    for subject in played(tmp_path, told, "end.stdin-closed", "bolt.settle.once").subjects:
        assert subject.reason.startswith("it fails a made-up tuple: ValueError: two values; give a sample")


def test_silence_at_the_first_made_up_tuple_says_nothing(tmp_path: Path) -> None:
    subject, *_ = played(tmp_path, "while True: time.sleep(60)", "bolt.settle.once").subjects
    assert subject.verdict == "untestable"
    assert subject.reason.startswith("it falls silent at a made-up tuple; give a sample")


@pytest.mark.parametrize(
    ("deed", "verdict"),
    [
        ("if '\\\\' in json.dumps(tup['tuple'], ensure_ascii=False): continue", "warn"),
        ("if tup['tuple'] != ['snow white and the seven dwarfs']: continue", "skip"),
    ],
    ids=["of texts with escapes", "of all other texts"],
)
def test_silence_at_texts_with_escapes_alone_is_no_refusal(tmp_path: Path, deed: str, verdict: str) -> None:
    (subject,) = played(tmp_path, f"import json\n    {deed}", "bolt.emit.unicode").subjects
    assert subject.verdict == verdict
    assert subject.reason.startswith("it does not take text of our making") is (verdict == "skip")


def test_fields_that_were_told_are_not_asked_for_again(tmp_path: Path) -> None:
    result = played(tmp_path, '{}["user"]', "bolt.settle.once", sources=(InputSource("a", fields=("x",)),))
    (subject,) = result.subjects
    assert subject.reason.startswith("it dies of a made-up tuple: KeyError: 'user'; give a sample")


@pytest.mark.parametrize(
    "deed",
    [
        # It took one such tuple: in this case, or in another.
        'fed > 1 and tup["tuple"][1]',
        'fed > 19 and tup["tuple"][1]',
        # No tuple makes a process do that.
        "os.close(1); time.sleep(60)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "os.close(0); time.sleep(60)",
        "os.close(0); [time.sleep(0.05) for _ in iter(int, 1)]",
    ],
)
def test_a_bolt_that_took_it_or_stopped_itself_is_to_blame(tmp_path: Path, deed: str) -> None:
    result = played(tmp_path, deed, "bolt.settle.once")
    assert [each.verdict for each in result.subjects if each.kind == "case"] == ["fail"], result.subjects[0].reason
    assert result.exit_code == 1


def test_a_bolt_that_takes_it_in_another_case_is_to_blame(tmp_path: Path) -> None:
    # A tuple after a heartbeat kills it; one before is taken.
    code = PID + CODE % "'beaten' in globals() and sys.exit(1)"
    code = code.replace("        continue", "        beaten = 1\n        continue")
    (tmp_path / "bolt.py").write_text(code)
    component = Component(command=(sys.executable, "-I", "-S", str(tmp_path / "bolt.py")))
    result = run_suite(component, RunOptions(record=str(tmp_path), include=CASES, timeout=5.0))
    verdicts = {each.id: each.verdict for each in result.subjects}
    assert verdicts == dict(zip(CASES, ("pass", "fail", "pass"), strict=True))


STREAMS = {"default": StreamDeclaration(("word",), schema={"items": {"type": "string"}})}
EMIT = (
    """say('{"command":"emit","anchors":["%s"],"stream":"%s","need_task_ids":false,"tuple":%s}\\nend\\n' % ARGUMENTS)"""
)


def test_what_a_join_keeps_in_another_topology_is_not_what_it_takes(tmp_path: Path) -> None:
    # It acks at once what it keeps, and dies once a tuple of each source that it was told of is there.
    join = """of = hello["context"]["source->stream->grouping"]
    if {tup["comp"]} == {*of}: {}["user"]"""
    result = played(tmp_path, join, "handshake.context", "bolt.settle.once")
    assert {each.id: each.verdict for each in result.subjects} == {
        "handshake.context": "pass",
        "bolt.settle.once": "untestable",
    }


WRONG = {
    "arity": EMIT.replace("ARGUMENTS", """(tup["id"], "default", '["a","b"]')"""),
    "stream-undeclared": EMIT.replace("ARGUMENTS", """(tup["id"], "other", '["a"]')"""),
    "values-unlike-schema": EMIT.replace("ARGUMENTS", """(tup["id"], "default", '[1]')"""),
}
OF_THEM = ("bolt.emit.arity", "bolt.emit.declared-streams", "bolt.emit.schema", "bolt.settle.once", "bolt.emit.unicode")


@pytest.mark.parametrize("rule", WRONG)
def test_what_comes_of_a_made_up_tuple_is_judged_for_what_the_wire_must_carry(tmp_path: Path, rule: str) -> None:
    made_up = played(tmp_path, WRONG[rule], *OF_THEM, streams=STREAMS)
    verdicts = {each.id: each.verdict for each in made_up.subjects}
    assert verdicts == dict(zip(OF_THEM, ("skip", "skip", "skip", "pass", "pass"), strict=True))
    assert all(each.reason.startswith("no samples are declared") for each in made_up.subjects if each.verdict == "skip")
    assert "streams, arity and schemas of what it emits were not judged" in made_up.notes[0]
    declared = played(tmp_path, WRONG[rule], *OF_THEM, streams=STREAMS, samples=(["a"],))
    assert {each.verdict for each in declared.subjects} == {"fail"}
    assert {finding.rule for each in declared.subjects for finding in each.findings} == {rule}


def test_what_comes_of_a_variant_of_a_sample_is_none_of_its_meaning(tmp_path: Path) -> None:
    deed = 'tup["tuple"] == ["a"] or ' + WRONG["arity"]
    result = played(tmp_path, deed, *OF_THEM, streams=STREAMS, samples=(["a"],))
    assert {each.id: each.verdict for each in result.subjects} == dict(
        zip(OF_THEM, ("skip", "skip", "skip", "pass", "pass"), strict=True)
    )


def test_with_a_sample_every_death_is_its_own(tmp_path: Path) -> None:
    result = played(tmp_path, 'tup["tuple"][1]', "bolt.settle.once", samples=(["a"],))
    assert [each.verdict for each in result.subjects] == ["fail"]


DIES_OF_HEARTBEATS = """
import time
shake()
while True:
    tup = message()
    if isinstance(tup, list): continue
    if tup["stream"] == "__heartbeat": sys.exit(3)
    say('{"command":"emit","tuple":["x"],"need_task_ids":false}\\nend\\n')
"""


def test_who_dies_of_heartbeats_alone_did_not_die_of_a_made_up_tuple(tmp_path: Path) -> None:
    script = tmp_path / "bolt.py"
    script.write_text(PID + DIES_OF_HEARTBEATS)
    component = Component(command=(sys.executable, "-I", "-S", str(script)))
    cases = ("bolt.heartbeat.idle", "bolt.settle.once")
    result = run_suite(component, RunOptions(record=str(tmp_path), include=cases, timeout=5.0))
    assert {each.id: each.verdict for each in result.subjects} == dict.fromkeys(cases, "fail")
    options = RunOptions(record=str(tmp_path), include=("bolt.cut.tuple-non-ascii",), timeout=5.0)
    [subject] = run_suite(component, options).subjects
    assert subject.reason.startswith("it ended at text of our making, or at a heartbeat behind it: the process exited")


def test_who_acks_first_and_dies_of_a_made_up_tuple_then_took_none(tmp_path: Path) -> None:
    deed = """say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"]); tup["tuple"][1]"""
    verdicts = {each.id: each.verdict for each in played(tmp_path, deed).subjects}
    assert verdicts == dict(zip(CASES, ("pass", "untestable", "untestable"), strict=True))
    declared = {each.id: each.verdict for each in played(tmp_path, deed, samples=(["a"],)).subjects}
    assert declared == dict(zip(CASES, ("pass", "fail", "fail"), strict=True))


ACKS_HEARTBEATS = """
shake()
while True:
    tup = message()
    if isinstance(tup, list): continue
    for value in tup["tuple"]:
        say('{"command":"emit","tuple":[%s],"need_task_ids":false}\\nend\\n' % (value + 2 ** 62))
    say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"])
"""


def test_what_comes_of_reckoning_with_made_up_numbers_is_not_told_beside_a_failure(tmp_path: Path) -> None:
    script = tmp_path / "bolt.py"
    script.write_text(PID + ACKS_HEARTBEATS)
    component = Component(command=(sys.executable, "-I", "-S", str(script)), samples=([5],))
    options = RunOptions(record=str(tmp_path), include=("bolt.value.integers",), timeout=5.0)
    [subject] = run_suite(component, options).subjects
    assert (subject.verdict, {each.rule for each in subject.findings} & {"integer-too-big"}) == ("fail", set())
    assert {each.rule for each in subject.findings} >= {"heartbeat-acked"}
