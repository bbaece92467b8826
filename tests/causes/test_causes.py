"""Every cause is recognised in its own example, and named by its file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.catalogue import loader, locate
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.causes.diagnosis import FACTS, diagnose
from multilang_cli.causes.facts import Facts, Known, Source, facts_of, said_in_time
from multilang_cli.causes.model import Place, Signature
from multilang_cli.causes.unheard import what_they_are
from multilang_cli.protocol.words.verdicts import Finding
from tests import notation

if TYPE_CHECKING:
    from collections.abc import Collection

    from multilang_cli.causes.model import Cause, Example, KnownCause
    from multilang_cli.protocol.words.events import Event

RULES = loader.load_rulebook().rules
CAUSES = {cause.id: cause for cause in loader.load_causes()}
each_cause = pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES)


def facts_in(
    events: list[Event],
    kind: str,
    *,
    made_up: bool = False,
    handled: bool = False,
    pieced: tuple[int, ...] = (),
    answers: tuple[str, ...] = (),
    forgets: Collection[str] = (),
    by_child: bool = False,
    language: str = "",
    line: str = "",
    misplaced: bool = False,
    stood: str = "",
    held: str = "",
    batch: int = 0,
    storm: str = "",
) -> Facts:
    """What the judge and the events of a conversation tell."""
    rulebook = loader.load_rulebook()
    judge = judge_of(loader.example_profile("spout" if kind == "spout" else "bolt"), rulebook)
    findings = [finding for event in events for finding in judge.feed(event)]
    stderr = b"".join(event.raw for event in events if event.channel == "err").decode()
    source = Source(kind="spout" if kind == "spout" else "bolt", language=language, roots=("/srv",))
    known = Known(
        stderr=stderr,
        made_up=made_up,
        handled=handled,
        pieced=pieced,
        answers=answers,
        forgets=forgets,
        starter=Place("bolt.py", 7) if by_child else None,
        sources={"bolt": line.splitlines()},
        misplaced=misplaced,
        stood=Place("bolt.py", 5, stood) if stood else None,
        held=held,
        batch=batch,
        storm=storm,
    )
    return facts_of(events, findings, source, loader.load_tracebacks(), known)


@each_cause
def test_a_mend_of_a_signature_stands_with_its_own_line_of_code(cause: KnownCause) -> None:
    lines = {signature.mend: signature.mend_code for signature in cause.when if signature.mend_code}
    told = [told_of(example)[1][0] for example in (cause.example, *cause.alike)]
    assert {each.mend: each.code for each in told if each.mend in lines} == lines


@each_cause
def test_a_file_holds_to_its_schema(cause: KnownCause) -> None:
    assert loader.problems(locate.data_path("conformance", "causes", f"{cause.id}.yaml"), "cause") == []


def test_the_forms_of_tracebacks_hold_to_their_schema() -> None:
    assert loader.problems(locate.data_path("conformance", "tracebacks.yaml"), "tracebacks") == []


@each_cause
def test_its_rules_are_known_and_its_name_is_no_rule(cause: KnownCause) -> None:
    rules = loader.load_rules()
    named = {*cause.folds, *(rule for signature in cause.when for rule in signature.rules)}
    assert named <= rules.keys()
    assert cause.id not in rules


def test_the_length_of_a_message_of_which_the_beginning_is_kept() -> None:
    events = notation.parse(CAUSES["buffer-too-small"].example.talk)
    judge = judge_of(loader.example_profile("bolt"), loader.load_rulebook())
    findings = [finding for event in events for finding in judge.feed(event)]
    cut = msgspec.structs.replace(events[-1], raw=events[-1].raw[:30])
    known = Known(sizes={cut.seq: len(events[-1].raw)})
    facts = facts_of([*events[:-1], cut], findings, Source(kind="bolt"), loader.load_tracebacks(), known)
    assert facts.lengths == {cut.seq: 63}


def told_of(example: Example) -> tuple[Facts, tuple[Cause, ...]]:
    """The facts of an example, and the causes named of it."""
    facts = facts_in(
        notation.parse(example.talk),
        example.kind,
        made_up=example.made_up,
        handled=example.handled,
        pieced=example.pieced,
        answers=example.answers,
        by_child=example.by_child,
        line=example.source,
        language=example.language,
        misplaced=example.misplaced,
        stood=example.stood,
        held=example.held,
        batch=example.batch,
        storm="2.8.3",
    )
    return facts, diagnose(facts, CAUSES.values(), RULES)


@each_cause
def test_its_example_shows_it(cause: KnownCause) -> None:
    facts, found = told_of(cause.example)
    assert [each.id for each in found][:1] == [cause.id], (found, facts)
    assert "{" not in found[0].headline.replace("{'", "").replace('{"', "")
    if cause.example.headline:
        assert found[0].headline == cause.example.headline


ALIKE = [(cause.id, number) for cause in CAUSES.values() for number in range(len(cause.alike))]
UNLIKE = [(cause.id, number) for cause in CAUSES.values() for number in range(len(cause.unlike))]


@pytest.mark.parametrize(("cause", "number"), ALIKE)
def test_further_conversations_show_it(cause: str, number: int) -> None:
    example = CAUSES[cause].alike[number]
    _, found = told_of(example)
    assert [each.id for each in found][:1] == [cause]
    assert found[0].headline == (example.headline or found[0].headline)


@pytest.mark.parametrize(("cause", "number"), UNLIKE)
def test_what_looks_alike_is_not_told_so(cause: str, number: int) -> None:
    _, found = told_of(CAUSES[cause].unlike[number])
    assert cause not in {each.id for each in found}


NOISE = "ConnectionRefusedError: metrics server away, going on without"
REFUSALS = {
    "an exception of long before": (f'2>text "{NOISE}\\n"\n{{tuple}}', ""),
    "an exception of this tuple": (f'{{tuple}}2>text "{NOISE}\\n"\n', f": {NOISE}"),
    "a log of it": ('{tuple}< {{"command":"log","msg":"no word in it"}}\n', ', and says "no word in it"'),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_explained_by_what_belongs_to_it(name: str) -> None:
    before, told = REFUSALS[name]
    talk = before.format(tuple='> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["a",1]}\n')
    behind = (
        '> {"id":"2","comp":"src","stream":"default","task":2,"tuple":["b",1]}\n< {"command":"log","msg":"b is fine"}\n'
    )
    events = notation.parse(f'{talk}< {{"command":"fail","id":"1"}}\n{behind}< {{"command":"ack","id":"2"}}\n')
    (found,) = diagnose(facts_in(events, "bolt"), CAUSES.values(), RULES)
    assert found.headline == f"it fails a declared sample{told}"


_LOADS = """> {{"id":"1","comp":"src","stream":"default","task":2,"tuple":["a"]}}
> {{"id":"2","comp":"src","stream":"default","task":2,"tuple":["a"]}}
> {{"id":"3","comp":"src","stream":"default","task":2,"tuple":["a"]}}
< {{"command":"emit","anchors":["1"],"tuple":["b",1],{emit}}}
< {{"command":"emit","anchors":["2"],"tuple":["b",1],{emit}}}
< {{"command":"emit","anchors":["3"],"tuple":["b",1],{emit}}}
{ack}! {{"event": "deadline", "waiting_for": "settle", "limit": 5, "blocked": "waits in epoll_wait"}}
"""
TALKS = {
    "a log that came right before the end": (
        """> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
< {"command":"log","msg":"Exception in bolt: no"}
! {"event": "exited", "code": 1}
""",
        'it dies of a tuple: exit code 1, and its last log is "Exception in bolt: no"',
    ),
    "a log of long before": (
        """< {"command":"log","msg":"hello"}
> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
< {"command":"ack","id":"1"}
! {"event": "exited", "code": 1}
""",
        "it dies right after its answer to a tuple: exit code 1",
    ),
    "a heartbeat that came into the silence behind an open tuple": (
        """> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
@ 3
> {"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}
! {"event": "exited", "code": 1}
""",
        "it dies of a heartbeat: exit code 1",
    ),
    "a tuple that took its time": (
        """> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
@ 3
> {"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}
@ 4
! {"event": "exited", "code": 1}
""",
        "it dies of a tuple: exit code 1",
    ),
    "a tuple that was never read": (
        """> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
! {"event": "exited", "code": 1, "unread": 500}
""",
        "it dies after its pid, before anything was asked of it: exit code 1",
    ),
    "tuples that stay open behind emits which ask for no ids": (
        _LOADS.format(emit='"need_task_ids":false', ack=""),
        "it leaves tuples open: 3 tuples were neither acked nor failed within 5 s",
    ),
    "a tuple that was settled behind such an emit at once": (
        _LOADS.format(emit='"need_task_ids":false', ack='< {"command":"ack","id":"3"}\n'),
        "it leaves tuples open: 2 tuples were neither acked nor failed within 5 s",
    ),
    "half a text that is complained of before the pid": (
        r"""> {"conf":{},"pidDir":"/pids","context":{}}
< {"command":"log","msg":"bad message: Unterminated string in JSON at position 65488"}
< {"pid":5}
""",
        "it takes what one read gives for a whole message: what it says before its pid is of half a text",
    ),
    "an empty line for a message": (
        r"""> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
<raw "\nend\n"
""",
        "it writes an empty line where a message belongs: what makes its JSON gave nothing, or writes `end` itself",
    ),
    "a line end too many": (
        r"""> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
<raw "end\n"
""",
        "a line 'end' with no message before it",
    ),
    "task ids that are read for a tuple behind the ack": (
        r"""> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
< {"command":"emit","anchors":["1"],"tuple":["x",1]}
> [4]
< {"command":"ack","id":"1"}
2>text "  File \"b.py\", line 2, in f\n    t[\"id\"]\nTypeError: list indices must be integers\n"
! {"event": "exited", "code": 1}
""",
        "it dies of the task ids that Storm sends for an emit: TypeError: list indices must be integers",
    ),
    "a tuple behind task ids, of which the user's own code dies": (
        r"""> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
< {"command":"emit","anchors":["1"],"tuple":["x",1]}
> [4]
< {"command":"ack","id":"1"}
> {"id":"2","comp":"src","stream":"default","task":2,"tuple":["word",1]}
2>text "  File \"b.py\", line 2, in f\n    t[\"id\"]\nTypeError: list indices must be integers\n"
! {"event": "exited", "code": 1}
""",
        "it dies of a tuple: TypeError: list indices must be integers",
    ),
    "a warning of Perl's and a silence": (
        r"""> {"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}
2>text "Name \"main::n\" used only once: possible typo at bolt.pl line 24.\n"
! {"event": "deadline", "waiting_for": "heartbeat", "limit": 5, "blocked": "is blocked reading its stdin"}
""",
        "it does not answer heartbeats with a sync",
    ),
}


@pytest.mark.parametrize("name", TALKS)
def test_what_is_told_is_what_happened_last(name: str) -> None:
    talk, headline = TALKS[name]
    assert [cause.headline for cause in diagnose(facts_in(notation.parse(talk), "bolt"), CAUSES.values(), RULES)] == [
        headline
    ]


@pytest.mark.parametrize(
    ("again", "may_be_late"),
    [("", True), (', "again": {"id": "1", "fed": 20, "settled": 20, "declared": true}', False)],
)
def test_a_tuple_that_is_proven_to_be_forgotten_may_not_be_settled_late(again: str, *, may_be_late: bool) -> None:
    talk = TUPLE % 1 + TUPLE % 2 + ACK % 2 + SILENCE.replace(', "blocked"', f'{again}, "blocked"') % "settle"
    (found,) = diagnose(facts_in(notation.parse(talk), "bolt"), CAUSES.values(), RULES)
    assert found.id == "forgets-tuples"
    assert ("--settles" in found.mend) is may_be_late


HEARTBEAT = '> {"id":"%d","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}\n'
TUPLE = '> {"id":"%d","comp":"src","stream":"default","task":2,"tuple":["a"]}\n'
SYNC, ACK = '< {"command":"sync"}\n', '< {"command":"ack","id":"%d"}\n'
GREETING = '> {"conf":{},"pidDir":"/pids","context":{}}\n'
SILENCE = '! {"event": "deadline", "waiting_for": "%s", "limit": 31, "blocked": "is blocked"}\n'
BEATS = HEARTBEAT % 9 + SILENCE % "heartbeat"
AFTER_ONE = HEARTBEAT % 8 + SYNC + BEATS
TUPLES = TUPLE % 1 + ACK % 1 + TUPLE % 2 + TUPLE % 3 + ACK % 3 + SILENCE % "settle"
OPEN = TUPLE % 1 + TUPLE % 2 + TUPLE % 3 + ACK % 3 + SILENCE % "settle"
PIECES: dict[str, tuple[str, tuple[int, ...], tuple[str, ...], str]] = {
    "a heartbeat": (AFTER_ONE, (2,), (), "chunk-as-message"),
    "a whole heartbeat": (AFTER_ONE, (), (), "heartbeat-not-answered"),
    "the first heartbeat": (BEATS, (0,), (), "heartbeat-not-answered"),
    "the first heartbeat, known to be answered": (BEATS, (0,), ("heartbeat",), "chunk-as-message"),
    "a heartbeat before a whole one": (HEARTBEAT % 8 + SYNC + BEATS, (0,), ("heartbeat",), "chunk-as-message"),
    "a tuple": (TUPLES, (2,), (), "chunk-as-message"),
    "another tuple": (OPEN, (1,), (), "forgets-tuples"),
    "the handshake": (GREETING + SILENCE % "pid", (0,), ("handshake",), "chunk-as-message"),
    "the only handshake": (GREETING + SILENCE % "pid", (0,), (), "silent-start"),
}


@pytest.mark.parametrize("name", PIECES)
def test_what_is_lost_in_pieces_is_what_is_answered_whole(name: str) -> None:
    talk, pieced, answers, cause = PIECES[name]
    events = notation.parse(talk)
    first = len(events) - talk.count("\n")
    facts = facts_in(events, "bolt", pieced=tuple(first + at for at in pieced), answers=answers)
    assert [each.id for each in diagnose(facts, CAUSES.values(), RULES)][:1] == [cause]


def test_who_leaves_whole_tuples_open_does_not_lose_pieces() -> None:
    events = notation.parse(TUPLES)
    pieced = (events[2 - TUPLES.count("\n")].seq,)
    facts = facts_in(events, "bolt", pieced=pieced, forgets={"tuple"})
    assert [each.id for each in diagnose(facts, CAUSES.values(), RULES)][:1] == ["forgets-tuples"]


def test_who_leaves_whole_heartbeats_unanswered_does_not_lose_pieces() -> None:
    talk, at, answers, cause = PIECES["a heartbeat"]
    events = notation.parse(talk)
    pieced = tuple(len(events) - talk.count("\n") + each for each in at)
    told = [
        diagnose(facts_in(events, "bolt", pieced=pieced, answers=answers, forgets=forgets), CAUSES.values(), RULES)[0]
        for forgets in ((), {"heartbeat"})
    ]
    assert told[0].id == cause != told[1].id


def test_an_end_that_came_later_is_not_the_place_of_what_was_wrong_before() -> None:
    events = notation.parse(f"""{GREETING}< {{"command":"log","msg":"starting"}}
< {{"pid":1}}
{HEARTBEAT % 9}2>text "Traceback (most recent call last):\\n  File \\"/srv/a.py\\", line 7, in run\\nKeyError: 'x'\\n"
! {{"event": "exited", "code": 1}}
""")
    places = {cause.id: cause.place for cause in diagnose(facts_in(events, "bolt"), CAUSES.values(), RULES)}
    assert places == {"dies-of-a-heartbeat": Place("a.py", 7), "speaks-before-its-pid": None}


def test_what_it_throws_at_an_end_that_it_was_told_to_make_is_not_shown_of_what_was_wrong_before() -> None:
    thrown = "Exception: Read EOF from stdin\n"
    events = notation.parse(
        f"""{GREETING}< {{"pid":1}}
{TUPLE % 1}2>text "warming up\\n"
< {{"command":"ack","id":"1"}}
< {{"command":"ack","id":"1"}}
! {{"event": "stdin-closed"}}
2>text "Exception: Read EOF from stdin\\n"
! {{"event": "exited", "code": 1}}
"""
    )
    twice = max(event.seq for event in events if event.channel == "out")
    kept = {event.seq: event for event in events}
    said = f"warming up\n{thrown}"
    assert said_in_time(said, kept, {}, twice) == "warming up\n"
    assert said_in_time(f"{said}{thrown}", kept, {}, twice) == "warming up\n"
    assert said_in_time(said, kept, {}, None) == said


def test_an_error_that_was_told_to_storm_before_the_fail_names_the_line() -> None:
    lines = ["Traceback (most recent call last):", '  File "/srv/a.py", line 7, in run', "AttributeError: no emit_many"]
    error = f"< {json.dumps({'command': 'error', 'msg': chr(10).join(['Python error raised', *lines])})}\n"
    failed = f'{SYNC}< {{"command":"fail","id":"2"}}\n! {{"event": "exited", "code": 1}}\n'
    told, mended = (
        diagnose(facts_in(notation.parse(TUPLE % 1 + TUPLE % 2 + TUPLE % 3 + said), "bolt"), CAUSES.values(), RULES)[0]
        for said in (error + failed, error + ACK % 1 + failed)
    )
    assert (told.id, told.last, told.place) == ("dies-of-a-tuple", "AttributeError: no emit_many", Place("a.py", 7))
    assert (mended.last, mended.place) == ("", None)


def test_who_fails_a_tuple_for_an_error_and_ends_dies_of_that_tuple() -> None:
    error = '< {"command":"error","msg":"no"}\n'
    failed, ended = '< {"command":"fail","id":"1"}\n', '! {"event": "exited", "code": 1}\n'
    dies, lives_on, unsaid = (
        diagnose(facts_in(notation.parse(TUPLE % 1 + HEARTBEAT % 9 + said), "bolt"), CAUSES.values(), RULES)[0].id
        for said in (error + SYNC + failed + ended, error + failed + SYNC + ended, SYNC + failed + ended)
    )
    assert (dies, lives_on, unsaid) == ("dies-of-a-tuple", "dies", "dies")


@pytest.mark.parametrize(
    "said",
    [ACK % 9, '< {"command":"emit","anchors":["9"],"tuple":["a",1],"need_task_ids":false}\n'],
    ids=["ack", "emit"],
)
def test_what_comes_of_a_heartbeat_comes_since_storm_sends_them(said: str) -> None:
    cause = diagnose(facts_in(notation.parse(HEARTBEAT % 9 + said), "bolt"), CAUSES.values(), RULES)[0]
    assert (cause.id, cause.since) == ("heartbeat-not-answered", "0.9.3")


ADAPTERS = {
    "ModuleNotFoundError: No module named 'storm'": "adapter-missing",
    "ModuleNotFoundError: No module named 'storm.twisted'": "module-missing",
    "ModuleNotFoundError: No module named 'stormy'": "module-missing",
    "Error: Cannot find module './storm'": "adapter-missing",
    "Error: Cannot find module '/srv/graphs/demo'": "adapter-missing",
    "Error: Cannot find module 'storm'": "module-missing",
    "bolt.rb:1:in `require': cannot load such file -- ./storm (LoadError)": "adapter-missing",
    "bolt.rb:1:in `require': cannot load such file -- storm (LoadError)": "adapter-missing",
    "bolt.rb:1:in `require': cannot load such file -- redis (LoadError)": "module-missing",
    "PHP Fatal error:  Uncaught Error: Failed opening required 'storm.php' in /srv/bolt.php:2": "adapter-missing",
    "PHP Fatal error:  Uncaught Error: Failed opening required 'vendor/a.php' in /srv/bolt.php:2": "module-missing",
}


@pytest.mark.parametrize("said", ADAPTERS)
def test_a_file_beside_the_program_is_in_no_package(said: str) -> None:
    frames = 'Traceback (most recent call last):\\n  File "/srv/bolt.py", line 1, in <module>\\n    x\\n'
    behind = "    at Object.<anonymous> (/srv/bolt.js:1:1)\\n" if said.startswith("Error") else ""
    text = f"{frames if said.startswith('Module') else ''}{said}\\n{behind}".replace('"', '\\"')
    stderr = f'{GREETING}2>text "{text}"\n! {{"event": "exited", "code": 1}}\n'
    language = {"Error": "javascript", "bolt.": "ruby", "PHP F": "php"}.get(said[:5], "python")
    facts = facts_in(notation.parse(stderr), "bolt", language=language)
    assert [cause.id for cause in diagnose(facts, CAUSES.values(), RULES)] == [ADAPTERS[said]]


def test_a_parser_that_refuses_a_text_may_say_so_to_storm() -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/srv/a.py", line 7, in run',
        "JSONDecodeError: Expecting value",
    ]
    said = f"< {json.dumps({'command': 'error', 'msg': chr(10).join(lines)})}\n"
    ended = '! {"event": "exited", "code": 0}\n'
    assert facts_in(notation.parse(TUPLE % 1 + said + ended), "bolt").misread
    assert not facts_in(notation.parse(TUPLE % 1 + said), "bolt").misread


def test_who_acks_before_it_works_may_have_died_of_either() -> None:
    talk = """> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
> {"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}
%s! {"event": "exited", "code": 1}
"""
    emits = '< {"command":"emit","anchors":["1"],"tuple":["word"],"need_task_ids":false}\n'
    acked, emitted, silent = (
        diagnose(facts_in(notation.parse(talk % said), "bolt"), CAUSES.values(), RULES)[0]
        for said in ('< {"command":"ack","id":"1"}\n', emits, "")
    )
    assert (emitted.id, emitted.certainty) == ("dies-of-a-tuple", "likely")
    assert (acked.id, acked.certainty) == ("dies-of-a-heartbeat", "likely")
    assert (silent.id, silent.certainty) == ("dies-of-a-tuple", "certain")


def test_at_most_one_cause_stands_on_facts_alone() -> None:
    talk = """> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["word",1]}
< {"command":"ack","id":"1"}
< {"command":"ack","id":"1"}
! {"event": "exited", "code": 0}
"""
    found = diagnose(facts_in(notation.parse(talk), "bolt"), CAUSES.values(), RULES)
    assert [cause.id for cause in found] == ["exits-mid-work", "settles-twice"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"pid":1}\nEND\n', "end-with-blanks"),
        ('[start]{"pid":1}\n[end]\n', "end-with-blanks"),
        ('{"pid":1}\n \u3010end\u3011\n', "end-with-blanks"),
        ('{"pid":1}\nend', "end-unfinished"),
        ('{"pid":1}\n', "object-without-end"),
        ('{"pid":1}\nappended\n{', "cut-object"),
        ('{"pid":1,\nend"', "cut-object"),
    ],
)
def test_unfinished_output_is_told_apart(text: str, what: str) -> None:
    assert what_they_are(text) == what


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ('{"command":"ack","id":"3"}', "takes-next-for-ids"),
        ('{"command":"ack","id":"1"}', "forgets-tuples"),
        ('{"command":"sync"}', "forgets-tuples"),
    ],
)
def test_who_settles_nothing_takes_no_tuple_for_task_ids(answer: str, cause: str) -> None:
    tuples = "".join(f'> {{"id":"{n}","comp":"src","stream":"default","task":2,"tuple":["a"]}}\n' for n in (1, 2, 3))
    emit = '< {"command":"emit","anchors":["1"],"tuple":["b"]}\n'
    waits = '! {"event":"deadline","waiting_for":"settle","limit":5,"blocked":"is blocked reading its stdin"}'
    events = notation.parse(f'{GREETING}< {{"pid":1}}\n{tuples}{emit}> [7]\n{HEARTBEAT % 9}< {answer}\n@ 5\n{waits}\n')
    assert [each.id for each in diagnose(facts_in(events, "bolt"), CAUSES.values(), RULES)][:1] == [cause]


@pytest.mark.parametrize(("answers", "cause"), [(("next", "ack"), "no-sync"), (("fail",), "chunk-as-message")])
def test_pieces_are_lost_by_who_answers_the_same_command_where_it_comes_whole(
    answers: tuple[str, ...], cause: str
) -> None:
    events = notation.parse("""> {"conf":{},"pidDir":"/pids","context":{}}
< {"pid":1}
> {"command":"fail","id":"m1"}
@ 5
! {"event": "deadline", "waiting_for": "sync", "limit": 5, "blocked": "is blocked reading its stdin"}
""")
    facts = facts_in(events, "spout", pieced=(events[2].seq,), answers=answers)
    assert [each.id for each in diagnose(facts, CAUSES.values(), RULES)] == [cause]


@pytest.mark.parametrize(
    ("exception", "cause"),
    [
        ("Error: Task with id bolt not found", "needs-its-own-name"),
        ("ValueError: unknown component: spout", "needs-its-own-name"),
        ("NameError: name 'bolt' is not defined", "name-unknown"),
        ("ModuleNotFoundError: No module named 'bolt'", "module-missing"),
    ],
)
def test_a_name_of_ours_is_told_from_a_name_of_its_own(exception: str, cause: str) -> None:
    written = (
        f'Traceback (most recent call last):\\n  File \\"bolt.py\\", line 9, in pick\\n    pick()\\n{exception}\\n'
    )
    events = notation.parse(
        f'> {{"conf":{{}},"pidDir":"/pids","context":{{}}}}\n2>text "{written}"\n! {{"event": "exited", "code": 1}}\n'
    )
    assert [each.id for each in diagnose(facts_in(events, "bolt"), CAUSES.values(), RULES)][:1] == [cause]


def test_every_fact_that_a_signature_may_ask_for_is_known() -> None:
    signature = json.loads(locate.data_path("schemas", "cause.schema.json").read_bytes())
    keys = signature["properties"]["when"]["items"]["properties"].keys()
    assert keys - FACTS.keys() == {*Signature.__struct_fields__} - {"facts"}
    assert keys >= FACTS.keys()


def test_a_long_message_with_nan_is_of_one_cause_with_a_short_one() -> None:
    text = '{"command":"emit","tuple":["' + "x" * 1_100_000 + '",-nan]}\nend\n'
    facts = facts_in(notation.parse(f"<raw {json.dumps(text)}"), "bolt", storm="2.8.3")
    found = diagnose(facts, CAUSES.values(), RULES)
    assert [(each.id, each.rules) for each in found] == [("emits-infinity", ("json-invalid",))]


@pytest.mark.parametrize(
    ("rule", "said", "headline"),
    [
        ("decimal-value", "a number with so many digits that Storm makes it a BigDecimal (since 2.6)", ""),
        ("stream-undeclared", "emit on the stream 'nope', which is not declared", ""),
        ("pid-type", "it is the text 'integer'", "the pid is no integer: it is the text 'integer'"),
        ("command-type", "the command is the number 5, not a string", ""),
        ("json-control-character", "a raw U+0009", "a raw control character in a string: a raw U+0009"),
        ("decimal-value", "an exponent beyond 32 bits", "a number with so many digits that Storm makes it a Big"),
    ],
)
def test_a_title_is_not_told_twice(rule: str, said: str, headline: str) -> None:
    finding = Finding(rule=rule, level="must", message=said, seq=1, offset=0)
    facts, _ = told_of(CAUSES["deadlock"].example)
    (told,) = diagnose(msgspec.structs.replace(facts, findings=(finding,)), (), RULES)
    assert told.headline.startswith(headline or said)


WORDS_OF_ITS_OWN = ("exception", "late_stderr", "matches", "stderr", "trace", "wrote")
"""Conditions that are looked for in what a component wrote, 64 KiB of it."""


@each_cause
def test_what_a_component_wrote_is_looked_through_once(cause: KnownCause) -> None:
    """Blanks at a line's beginning that may be line feeds are tried at each of them: 9 s for 64 KiB of empty lines."""
    patterns = [getattr(signature, name) for signature in cause.when for name in WORDS_OF_ITS_OWN]
    assert [each for each in patterns if re.search(r"\^\\s[*+]|^(?:\(\?P<\w+>)?\\w\+", each)] == []
