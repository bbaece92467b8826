"""How a component fares on each Storm version, in a sentence: over runs made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import Effect, Fate, Finding, Rule
from multilang_cli.reports.combined import combine
from multilang_cli.reports.fates import Fates, borders
from multilang_cli.reports.model import ComponentReport, RunResult, SubjectResult, Suite, Tool, Verdict
from multilang_cli.reports.storm_sentences import sentence_of, with_sentences
from multilang_cli.reports.verdict import Circumstances, conclude, weigh

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL = ("0.9.7", "0.10.2", "1.2.4", "2.5.0", "2.8.3")
REAL = load_rulebook()
LATE = "dies on 2.6 and later: a late (rule late)"


def rule(
    name: str, *effects: tuple[str, Fate] | tuple[str, Fate, str], level: Literal["must", "note"] = "note"
) -> Rule:
    """A rule that breaks with these fates: specifier, fate, and the variant that it holds for."""
    shown = tuple(Effect(versions=each[0], fate=each[1], when="".join(each[2:])) for each in effects)
    return msgspec.structs.replace(REAL.rules["direct-emit"], id=name, title=f"a {name}", level=level, effects=shown)


RULES = {
    each.id: each
    for each in (
        rule("late", (">=2.6", "dies"), ("<2.6", "survives")),
        rule("early", ("<1.0", "hangs"), (">=1.0", "survives")),
        rule("between", ("<1.0", "survives"), (">=1.0,<1.0.3", "loses-data"), (">=1.0.3", "survives")),
        rule("middle", (">=0.10,<2.6", "loses-data"), (">=2.6", "survives"), ("<0.10", "survives")),
        rule("always", ("*", "dies")),
        rule("worse", ("<2.6", "loses-data"), (">=2.6", "dies")),
        rule("harmless", ("*", "survives"), level="must"),
        rule("two-ways", (">=2.0", "dies", "a"), ("<2.0", "survives", "a"), ("*", "survives", "b")),
        rule(
            "by-parser", ("<1.0.3", "survives"), (">=1.0.3", "dies"), (">=2.6", "dies", "x"), ("<2.6", "survives", "x")
        ),
        rule("who-knows", ("<=2.5.0", "survives"), (">2.5.0,<2.8.3", "unknown"), (">=2.8.3", "dies")),
        rule("unread", ("<2.6", "survives"), (">=2.6", "unknown")),
    )
}
BOOK = Rulebook(RULES, REAL.versions)


def finding(name: str, when: str = "", seq: int = 1, fates: dict[str, Fate] | None = None) -> Finding:
    """A breach of the rule; `fates` where they are not those of its effects."""
    told = {version: effect.fate for version, effect in BOOK.effects(name, when).items()}
    told |= fates or {}
    return Finding(rule=name, level=RULES[name].level, seq=seq, offset=0, message=name, fates=told)


def run(
    storm: str, *findings: Finding, verdict: Verdict | None = None, circumstances: Circumstances | None = None
) -> RunResult:
    """A run of one case, whose verdict is made of the findings unless it is given."""
    weights = {weigh(each, storm) for each in findings}
    found: Verdict = next((each for each in ("fail", "warn") if each in weights), "pass")
    subject = SubjectResult(id="bolt.case", title="", verdict=verdict or found, findings=findings)
    blank = RunResult(
        tool=Tool(version="1"),
        suite=Suite(name="s"),
        component=ComponentReport(command=("b",)),
        storm=storm,
        started_at="",
    )
    return conclude(msgspec.structs.replace(blank, subjects=(subject,)), circumstances)


def everywhere(*findings: Finding, versions: Iterable[str] = ALL) -> list[RunResult]:
    return [run(storm, *findings) for storm in versions]


@pytest.mark.parametrize(
    ("findings", "sentence"),
    [
        ([], "runs on 0.9.7 to 2.8.3"),
        (["late"], "runs on 0.9.7 to 2.5.0; dies on 2.6 and later: a late (rule late)"),
        (["early"], "runs on 1.0 to 2.8.3; hangs on 0.9.7 to 0.10.2: a early (rule early)"),
        (
            ["between"],
            "runs on 0.9.7 to 0.10.2, 1.0.3 to 2.8.3; " + "loses data on 1.0 to below 1.0.3: a between (rule between)",
        ),
        (["middle"], "runs on 0.9.7, 2.6 to 2.8.3; loses data on 0.10 to 2.5.0: a middle (rule middle)"),
        (["always"], "dies on 0.9.7 and later: a always (rule always)"),
        (["harmless"], "breaks the protocol on 0.9.7 and later: a harmless (rule harmless)"),
        (["worse"], "loses data on 0.9.7 to 2.5.0: a worse (rule worse); dies on 2.6 and later: a worse (rule worse)"),
        (
            ["late", "early"],
            f"runs on 1.0 to 2.5.0; hangs on 0.9.7 to 0.10.2: a early (rule early); {LATE}",
        ),
        (
            ["harmless", "late"],
            f"breaks the protocol on 0.9.7 to 2.5.0: a harmless (rule harmless); {LATE}",
        ),
        (["who-knows"], "runs on 0.9.7 to 2.5.0; dies on 2.8.3 and later: a who-knows (rule who-knows)"),
        (["unread"], "runs on 0.9.7 to 2.5.0; not known on 2.8.3"),
    ],
)
def test_borders_are_those_of_the_rules(findings: list[str], sentence: str) -> None:
    assert sentence_of(everywhere(*map(finding, findings)), BOOK) == sentence


def test_a_sentence_needs_two_versions() -> None:
    assert sentence_of(everywhere(finding("late"))[:1], BOOK) == ""
    assert sentence_of([], BOOK) == ""


def test_the_variant_that_was_met_decides_where_the_border_is() -> None:
    assert sentence_of(everywhere(finding("two-ways", "a")), BOOK).startswith("runs on 0.9.7 to 1.2.4; dies on 2.0 and")
    assert sentence_of(everywhere(finding("two-ways", "b")), BOOK) == "runs on 0.9.7 to 2.8.3"


def test_where_a_parser_decided_the_one_border_between_two_fates_is_taken() -> None:
    read: dict[str, Fate] = {"0.9.7": "dies", "0.10.2": "dies", "0.9.2": "dies", "0.8.2": "dies", "0.7.1": "dies"}
    read |= {"1.2.4": "survives", "2.5.0": "survives", "2.8.3": "loses-data"}
    sentence = sentence_of(everywhere(finding("by-parser", fates=read)), BOOK)
    assert sentence.startswith("runs on 1.0.3 to 2.5.0; loses data on 2.6 and later: ")
    assert "; dies on 0.9.7 to 0.10.2: " in sentence


def test_what_only_one_version_met_says_nothing_of_those_between() -> None:
    met = [run(storm, *([finding("always")] if storm == "1.2.4" else [])) for storm in ALL]
    assert sentence_of(met, BOOK) == "runs on 0.9.7 to 0.10.2, 2.5.0 to 2.8.3; dies on 1.2.4: a always (rule always)"
    late = [*everywhere(versions=ALL[:4]), run("2.8.3", finding("late"))]
    assert sentence_of(late, BOOK) == "runs on 0.9.7 to 2.5.0; dies on 2.8.3 and later: a late (rule late)"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("late", "runs on 1.2.4 to 2.5.0; dies on 2.6 and later: a late (rule late)"),
        ("middle", "loses data on 1.2.4 to 2.5.0: a middle (rule middle)"),
        ("early", "runs on 1.2.4 to 2.5.0"),
    ],
)
def test_above_the_newest_that_was_played_only_harm_is_told(name: str, sentence: str) -> None:
    assert sentence_of(everywhere(finding(name), versions=("1.2.4", "2.5.0")), BOOK) == sentence


def test_a_rule_that_holds_on_some_of_the_versions_says_on_which() -> None:
    always = everywhere(finding("always"))
    both = [joined(one, other) for one, other in zip(always, everywhere(finding("late")), strict=True)]
    assert sentence_of([*always[:3], *both[3:]], BOOK) == (
        "dies on 0.9.7 and later: a always (rule always), a late (rule late, 2.6 and later)"
    )


def joined(one: RunResult, other: RunResult) -> RunResult:
    return conclude(msgspec.structs.replace(one, subjects=(*one.subjects, *other.subjects)))


def test_the_first_that_is_fatal_ends_a_conversation() -> None:
    assert "rule late" not in sentence_of(everywhere(finding("always", seq=1), finding("late", seq=2)), BOOK)
    assert "rule late" in sentence_of(everywhere(finding("always", seq=3), finding("late", seq=2)), BOOK)


def test_more_causes_than_are_named_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multilang_cli.reports.storm_sentences.MOST_CAUSES", 1)
    subjects = [run("2.8.3", finding(name)).subjects[0] for name in ("always", "late", "worse")]
    runs = [conclude(msgspec.structs.replace(run(s), subjects=tuple(subjects))) for s in ("2.5.0", "2.8.3")]
    assert sentence_of(runs, BOOK).endswith("(rule always), 2 more")


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        (run("2.8.3", circumstances=Circumstances(no_first_message=True)), "says no first message on 2.8.3"),
        (run("2.8.3", circumstances=Circumstances(interrupted=True)), "not known on 2.8.3: interrupted"),
        (run("2.8.3", circumstances=Circumstances(misuse=True)), "not known on 2.8.3: misuse"),
        (run("2.8.3", verdict="error"), "not known on 2.8.3: mlcheck's fault"),
        (run("2.8.3", finding("always"), verdict="untestable"), "not known on 2.8.3: inconclusive"),
        (run("2.8.3", verdict="fail"), "breaks the protocol on 2.8.3: case bolt.case"),
        (run("2.8.3", verdict="flaky"), "breaks the protocol on 2.8.3: case bolt.case"),
        (run("2.8.3", verdict="stale"), ""),
        (run("2.8.3", verdict="xfail"), ""),
        (run("2.8.3", finding("always"), verdict="xfail"), "dies on 2.8.3 and later: a always (rule always)"),
        (run("2.8.3", finding("harmless"), verdict="warn"), ""),
    ],
)
def test_what_a_version_of_its_own_makes_of_it(odd: RunResult, sentence: str) -> None:
    told = sentence_of([*everywhere(versions=ALL[:4]), odd], BOOK)
    assert told == (f"runs on 0.9.7 to 2.5.0; {sentence}" if sentence else "runs on 0.9.7 to 2.8.3")


def test_a_version_that_was_not_asked_is_said_to_be_so() -> None:
    told = sentence_of(everywhere(finding("late"), versions=("2.5.0", "2.6.4", "2.8.3")), BOOK)
    assert told.startswith("runs on 2.5.0; dies on 2.6 and later: ")
    assert told.endswith(" (not confirmed: 2.6.4, which no real Storm was asked about)")
    assert "confirmed" not in sentence_of(everywhere(finding("late")), BOOK)


def test_each_component_has_a_sentence() -> None:
    named = [
        msgspec.structs.replace(each, component=ComponentReport(name=name, command=(name,)))
        for name, names in (("good", []), ("bad", ["late"]))
        for each in everywhere(*map(finding, names))
    ]
    assert with_sentences(combine(named), BOOK).sentences == (
        "good: runs on 0.9.7 to 2.8.3",
        "bad: runs on 0.9.7 to 2.5.0; dies on 2.6 and later: a late (rule late)",
    )
    assert with_sentences(combine([named[0], named[5]]), BOOK).sentences == ()


@pytest.mark.parametrize("name", REAL.rules)
def test_the_borders_of_every_shipped_rule_are_told_as_its_effects_have_them(name: str) -> None:
    shipped, fates = REAL.rules[name], Fates(REAL)
    for when in {effect.when for effect in shipped.effects}:
        told = {version: effect.fate for version, effect in REAL.effects(name, when).items()}
        met = Finding(rule=name, level=shipped.level, seq=0, offset=0, message="", fates=told)
        for border in {border.text for border in borders(shipped) if border.text.count(".") == 2}:
            effect = load_rulebook(border).effects(name, when).get(border)
            if effect is not None and effect.fate != "unknown":
                assert fates.at(met, border) in {effect.fate, None}
        runs = [msgspec.structs.replace(run(s), subjects=(subject_of(met),)) for s in ("0.9.7", "2.8.3")]
        assert sentence_of([conclude(each) for each in runs], REAL)


def subject_of(met: Finding) -> SubjectResult:
    return SubjectResult(id="a.b", title="", verdict="fail", findings=(met,))
