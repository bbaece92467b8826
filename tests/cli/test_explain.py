"""``mlcheck explain`` says where real Storm was seen to do what a rule says, from what was recorded."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue import oracle
from multilang_cli.catalogue.loader import load_rulebook, load_rules
from multilang_cli.catalogue.oracle import oracle_verdicts, rules_of_scripts, shown_on
from multilang_cli.protocol.words.verdicts import Effect, Rule
from multilang_cli.reports.explaining.explain import render_rule
from multilang_cli.reports.page import make_console

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = load_rules()
ALL = ("2.8.3", "2.5.0", "1.2.4", "0.10.2", "0.9.7")


@pytest.fixture
def forget() -> Iterator[None]:
    """What is kept of the records is forgotten before and after."""
    oracle.recorded_fate.cache_clear()
    yield
    oracle.recorded_fate.cache_clear()


def explained(rule: Rule) -> str:
    """The page of a rule, its words apart by one space."""
    stream = io.StringIO()
    render_rule(rule, load_rulebook(), make_console(stream, "never", 80))
    assert all(len(line) <= 80 for line in stream.getvalue().splitlines() if "confirmed" in line)
    return re.sub(r"\s+", " ", stream.getvalue())


def test_versions_come_newest_first_with_fate_and_scripts() -> None:
    assert f"confirmed on {', '.join(ALL)} (dies) by bolt-ack-twice" in explained(RULES["ack-twice"])
    text = explained(RULES["direct-emit"])
    new = text.index("confirmed on 2.8.3 (dies) by bolt-direct-ok")
    assert new < text.index("confirmed on 2.5.0, 1.2.4, 0.10.2, 0.9.7 (survives) by bolt-direct-ok")
    assert text.index("where the task is 0:") < text.index("confirmed on 2.8.3 (dies) by bolt-direct-task-zero")


def test_each_variant_of_a_rule_is_a_paragraph_of_its_own() -> None:
    stream = io.StringIO()
    render_rule(RULES["direct-emit"], load_rulebook(), make_console(stream, "never", 80))
    assert "\n\n  where the task is 0:\n  Storm     2.8.3: worker dies" in stream.getvalue()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_is_confirmed_or_says_why_not(rule: Rule) -> None:
    text = explained(rule)
    assert ("confirmed on" in text) == any(map(shown_on, rule.effects))
    assert bool(re.search(r"not (all )?confirmed: ", text)) == bool(rule.unconfirmed)
    claims = {effect.fate for effect in rule.effects} - {"unknown"}
    if claims and not rule.unconfirmed:
        assert set(ALL) & {version for effect in rule.effects for version in shown_on(effect)}


def test_what_is_confirmed_only_in_part_is_told() -> None:
    some = msgspec.structs.replace(RULES["ack-twice"], unconfirmed="Nobody could see it.")
    assert "not all confirmed: Nobody could see it." in explained(some)
    none = msgspec.structs.replace(some, effects=(Effect(versions="*", fate="dies"),))
    assert " not confirmed: Nobody could see it." in explained(none)


@pytest.mark.usefixtures("forget")
def test_it_is_read_from_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    changed: dict[str, Any] = {**oracle_verdicts(), "bolt-ack-twice": dict(oracle_verdicts()["bolt-ack-twice"])}
    changed["bolt-ack-twice"]["2.5.0"] = {"verdict": "accepted", "events": [], "received": []}
    del changed["bolt-ack-twice"]["0.9.7"]
    monkeypatch.setattr(oracle, "oracle_verdicts", lambda: changed)
    assert "confirmed on 2.8.3, 1.2.4, 0.10.2 (dies) by bolt-ack-twice" in explained(RULES["ack-twice"])


@pytest.mark.parametrize(
    ("effect", "versions"),
    [
        (Effect(versions="<1.0", fate="dies", confirmed_by=("bolt-ack-twice",)), {"0.10.2", "0.9.7"}),
        (Effect(versions="*", fate="survives", confirmed_by=("bolt-ack-twice",)), set()),
        (Effect(versions="*", fate="dies", confirmed_by=("no-such-script", "bolt-ack-twice")), set(ALL)),
        (Effect(versions="*", fate="dies"), set()),
    ],
    ids=["some versions", "another fate", "all versions", "no script"],
)
def test_an_effect_is_shown_by_scripts_of_its_fate_on_its_versions(effect: Effect, versions: set[str]) -> None:
    assert set(shown_on(effect)) == versions
    assert {name for names in shown_on(effect).values() for name in names} <= {"bolt-ack-twice"}


def test_scripts_know_the_rules_that_they_show() -> None:
    assert "ack-twice" in rules_of_scripts()["bolt-ack-twice"]
    assert set(rules_of_scripts()) <= set(oracle_verdicts())
