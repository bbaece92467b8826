from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.protocol.storm.outlooks import fingerprint
from multilang_cli.protocol.words.verdicts import Finding
from multilang_cli.reports.model import SubjectResult, Verdict
from multilang_cli.suite.verdict.baseline import (
    EXPECTATION,
    FILE_HEAD,
    Baseline,
    BaselineError,
    apply,
    parse,
    render,
    without_a_case,
)

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Level

STORM = "2.8.3"
RULES: dict[str, Level] = {"ack-twice": "must", "exited": "must", "pid-file-filled": "should", "direct-emit": "note"}
TITLES = {"ack-twice": "acks twice", "exited": "the process ended", "pid-file-filled": "a pid file that is not empty"}
FILE = "known-failures.txt"


def finding(rule: str) -> Finding:
    return Finding(rule=rule, level=RULES[rule], seq=1, offset=0, message=f"it broke {rule}")


def subject(verdict: Verdict, *rules: str, id_: str = "a.b") -> SubjectResult:
    return SubjectResult(
        id=id_, title="t", verdict=verdict, reason=f"was {verdict}", findings=tuple(map(finding, rules))
    )


def known(line: str) -> Baseline:
    return parse(line, FILE, RULES)


def test_a_file_is_cases_with_rules_and_sentences() -> None:
    text = "# ours\n\na.b  ack-twice, exited  # since 1.2: two acks\nc.d\texpectation\n"
    entries = known(text).entries
    assert list(entries) == ["a.b", "c.d"]
    assert (entries["a.b"].rules, entries["a.b"].line) == (("ack-twice", "exited"), 3)
    assert entries["a.b"].comment == "since 1.2: two acks"
    assert entries["c.d"].rules == (EXPECTATION,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "# why\na.b\n",
            "known-failures.txt:2: a rule is missing; expected: CASE-ID  [flaky ]rule[, rule(subject)]  # why.",
        ),
        ("a.b  flaky", "known-failures.txt:1: there is no rule 'flaky'"),
        ("a.b  ack-twice flaky", "known-failures.txt:1: 'ack-twice flaky' is no rule"),
        ("a.b  ack-twice,", "known-failures.txt:1: a rule is missing"),
        ("a.b  ack-twice exited", "known-failures.txt:1: 'ack-twice exited' is no rule; expected:"),
        ("a.b  ack-twise", "known-failures.txt:1: there is no rule 'ack-twise'; did you mean ack-twice?"),
        ("a.b  exited\na.b  exited", "known-failures.txt:2: a.b stands in line 1 too"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(BaselineError) as raised:
        known(text)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("line", "before", "after", "reason"),
    [
        # Only what is listed is excused.
        ("a.b ack-twice", subject("fail", "ack-twice"), "xfail", "known failure (known-failures.txt:1): was fail"),
        ("a.b ack-twice, exited", subject("fail", "ack-twice"), "xfail", "no longer by exited"),
        ("a.b ack-twice", subject("fail", "ack-twice", "direct-emit"), "xfail", "known failure"),
        ("a.b ack-twice", subject("fail", "ack-twice", "pid-file-filled"), "xfail", "known failure"),
        ("a.b ack-twice", subject("fail", "ack-twice", "exited"), "fail", "exited is new: known-failures.txt:1 lists"),
        ("a.b ack-twice", subject("fail", "exited"), "fail", "it broke exited; exited is new"),
        ("a.b ack-twice", subject("flaky", "ack-twice"), "xfail", "known failure"),
        ("a.b ack-twice", subject("flaky", "exited"), "flaky", "exited is new"),
        # What had to come back did not, though no rule is broken.
        ("a.b expectation", subject("fail"), "xfail", "known failure"),
        ("a.b expectation", subject("fail", "pid-file-filled"), "xfail", "known failure"),
        ("a.b ack-twice", subject("fail"), "fail", "was fail; expectation is new"),
        # What passes or is not played is to be deleted.
        ("\n\na.b exited", subject("pass"), "stale", "it passes now: delete line 3 of known-failures.txt"),
        ("a.b exited", subject("pass", "direct-emit"), "stale", "it passes now: delete line 1"),
        ("a.b exited", subject("warn", "pid-file-filled"), "stale", "it passes now (it gives a warning: was warn)"),
        ("a.b exited", subject("skip"), "stale", "known-failures.txt:1 lists it, but it was not tested: was skip"),
        # What could not be judged is never excused.
        ("a.b exited", subject("untestable", "exited"), "untestable", "was untestable"),
        ("a.b exited", subject("error"), "error", "was error"),
        # What is listed as flaky may pass, and must in one of its runs.
        ("a.b flaky exited", subject("pass"), "pass", "was pass"),
        ("a.b flaky exited", subject("warn", "pid-file-filled"), "warn", "was warn"),
        (
            "a.b flaky exited, ack-twice",
            subject("flaky", "exited"),
            "xfail",
            "known to be flaky (known-failures.txt:1)",
        ),
        ("a.b flaky exited", subject("flaky", "ack-twice"), "flaky", "ack-twice is new: known-failures.txt:1 lists"),
        ("a.b flaky exited", subject("fail", "exited"), "fail", "lists it as flaky, but it did not pass in any run"),
        ("a.b flaky exited", subject("fail", "ack-twice"), "fail", "ack-twice is new"),
        ("a.b flaky exited", subject("skip"), "stale", "it was not tested"),
        ("a.b flaky exited", subject("untestable"), "untestable", "was untestable"),
        # What is not listed stays as it is.
        ("c.d exited", subject("fail", "exited"), "fail", "was fail"),
        ("c.d exited", subject("pass"), "pass", "was pass"),
        # A warning is green already.
        ("a.b pid-file-filled", subject("warn", "pid-file-filled"), "warn", "was warn"),
    ],
)
def test_how_a_case_counts(line: str, before: SubjectResult, after: Verdict, reason: str) -> None:
    counted = apply(known(line), before, strict=False, storm=STORM)
    assert counted.verdict == after
    assert reason in counted.reason
    assert sorted(counted.findings, key=str) == sorted(before.findings, key=str)


@pytest.mark.parametrize(
    ("line", "before", "after", "reason"),
    [
        ("a.b pid-file-filled", subject("warn", "pid-file-filled"), "xfail", "known failure"),
        ("a.b exited", subject("fail", "exited", "pid-file-filled"), "warn", "pid-file-filled is new"),
        ("a.b exited", subject("warn", "pid-file-filled"), "stale", "it gives a warning"),
        ("a.b expectation", subject("warn"), "xfail", "known failure"),
        # A case that makes less of a must than its rule does warns by it.
        ("a.b exited", subject("warn", "exited"), "xfail", "known failure"),
    ],
)
def test_under_strict_warnings_count_too(line: str, before: SubjectResult, after: Verdict, reason: str) -> None:
    counted = apply(known(line), before, strict=True, storm=STORM)
    assert counted.verdict == after
    assert reason in counted.reason


def test_what_is_new_is_shown_first() -> None:
    counted = apply(known("a.b ack-twice"), subject("fail", "ack-twice", "exited"), strict=False, storm=STORM)
    assert [each.rule for each in counted.findings] == ["exited", "ack-twice"]


def test_a_line_without_a_case_is_stale() -> None:
    (stale,) = without_a_case(known("a.b exited\na.c.d exited"), {"a.b", "a.c.e"}, "bolt")
    assert (stale.id, stale.verdict, stale.kind) == ("a.c.d", "stale", "run")
    assert "known-failures.txt:2: there is no bolt case 'a.c.d'; did you mean a.c.e?" in stale.reason
    assert without_a_case(known("a.b exited"), {"a.b"}, "bolt") == ()


FAILING = (
    subject("fail", "exited", "ack-twice", "pid-file-filled"),
    subject("warn", "pid-file-filled", id_="warns"),
    subject("pass", id_="passes"),
    subject("untestable", "exited", id_="untestable"),
    subject("fail", id_="mute"),
    subject("flaky", "exited", id_="flaky"),
)


def test_what_fails_is_written_with_its_rules() -> None:
    text = render("", {STORM: FAILING}, TITLES, strict=False)
    assert text == (
        f"{FILE_HEAD}a.b  ack-twice, exited  # acks twice; the process ended\n"
        "flaky  flaky exited  # the process ended\n"
        "mute  expectation  # what had to come back did not\n"
    )
    assert "warns  pid-file-filled  # a pid file that is not empty\n" in render(
        "", {STORM: FAILING}, TITLES, strict=True
    )


def test_comments_of_lines_that_stay_are_kept() -> None:
    old = "# ours\n\npasses  exited  # gone\nmute  exited  # see our tracker\n# the rest\n"
    text = render(old, {STORM: FAILING}, TITLES, strict=False)
    assert text == (
        "# ours\n\nmute  expectation  # see our tracker\n# the rest\n"
        "a.b  ack-twice, exited  # acks twice; the process ended\nflaky  flaky exited  # the process ended\n"
    )


def test_a_line_of_a_flaky_case_stays_until_it_always_fails() -> None:
    line = "a.b  flaky exited  # ours\n"
    keeps: dict[Verdict, bool] = {"pass": True, "warn": True, "flaky": True, "skip": False, "untestable": False}
    for verdict, kept in keeps.items():
        assert (line in render(line, {STORM: [subject(verdict, "exited")]}, TITLES, strict=False)) is kept, verdict
    assert render(line, {STORM: [subject("fail", "exited")]}, TITLES, strict=False) == "a.b  exited  # ours\n"
    on_both = {"1.2": [subject("flaky", "exited")], "2.8": [subject("fail", "ack-twice")]}
    assert render(line, on_both, TITLES, strict=False) == "a.b  ack-twice, exited  # ours\n"
    on_one = {"1.2": [subject("pass")], "2.8": [subject("fail", "exited")]}
    assert render(line, on_one, TITLES, strict=False) == "a.b  exited  # ours\n"


def test_a_flaky_case_is_not_excused_by_another_of_the_same_cause() -> None:
    failed = msgspec.structs.replace(subject("fail", "exited"), same_cause="c.d")
    assert apply(known("a.b exited"), failed, strict=False, storm=STORM).verdict == "xfail"
    assert apply(known("a.b flaky exited"), failed, strict=False, storm=STORM).verdict == "fail"


@pytest.mark.parametrize("strict", [False, True])
def test_what_is_written_excuses_what_was_written(strict: bool) -> None:
    baseline = known(render("", {STORM: FAILING}, TITLES, strict=strict))
    counted = [apply(baseline, each, strict=strict, storm=STORM).verdict for each in FAILING]
    assert counted == ["xfail", "xfail" if strict else "warn", "pass", "untestable", "xfail", "xfail"]


def unanswered(command: str) -> SubjectResult:
    found = Finding(
        rule="sync-missing",
        level="must",
        seq=1,
        offset=0,
        message=f"no sync of {command!r}",
        subject=command,
        fingerprint=fingerprint("sync-missing", "", command),
    )
    return SubjectResult(id="a.b", title="t", verdict="fail", findings=(found,), reason=found.message)


def test_a_line_with_a_subject_excuses_nothing_else() -> None:
    listed = parse("a.b  sync-missing(ack)  # one day\n", FILE, {"sync-missing"})
    assert apply(listed, unanswered("ack"), strict=False, storm=STORM).verdict == "xfail"
    other = apply(listed, unanswered("fail"), strict=False, storm=STORM)
    assert (other.verdict, "sync-missing(fail) is new" in other.reason) == ("fail", True)
    whole = parse("a.b  sync-missing\n", FILE, {"sync-missing"})
    assert {apply(whole, unanswered(c), strict=False, storm=STORM).verdict for c in ("ack", "fail")} == {"xfail"}
    assert "a.b  sync-missing(ack)  # " in render("", {STORM: [unanswered("ack")]}, {}, strict=False)
