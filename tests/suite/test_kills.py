"""Every case kills a mutant: those that are claimed are played, here and in test_testees and test_case_mutants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rules
from multilang_cli.catalogue.locate import data_path
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.cases.kills import soaked
from tests.command import mlcheck
from tests.planted import FILES, bugs_of, missed, of_file, planted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planted import Planted

CASES = [case.id for suite in ("component", "library") for case in load_cases(suite)]
CLAIMED = [mutant for file in ("bolt", "spout") for mutant in of_file(file) if mutant.claims]


def test_every_case_kills_a_mutant() -> None:
    claimed = {case for mutant in planted() for case in mutant.claims}
    assert set(CASES) - claimed == set()


def test_a_claim_names_a_case_and_a_rule() -> None:
    for mutant in planted():
        assert set(mutant.claims) <= set(CASES), mutant.name
        assert set(mutant.claims.values()) <= load_rules().keys(), mutant.name


NOT_OF_COMPONENTS = {
    "direct-emit": "right by the protocol: since 2.6 it is Storm that can't read it",
    "frame-too-long": "the limit is ours; it makes an end of the case (test_session)",
    "reactivation": "a fault of Storm before 1.0.3, whatever the spout does",
    "silence-near-timeout": "one second of a clock, which a busy machine may stretch (test_conversation)",
}


def test_every_rule_that_a_component_can_break_has_a_mutant() -> None:
    shown = {rule for mutant in planted() for rule in mutant.claims.values()}
    shown |= {mutant.rule for file in FILES for mutant in bugs_of(file).values()}
    rules = {name for name in load_rules() if not name.startswith("host-")}
    assert rules - shown == NOT_OF_COMPONENTS.keys()


@pytest.mark.component
@pytest.mark.sample(6)
@pytest.mark.parametrize("mutant", CLAIMED, ids=lambda mutant: f"{mutant.home}-{mutant.name}")
def test_a_mutant_is_killed_by_the_cases_that_claim_it(mutant: Planted, tmp_path: Path) -> None:
    assert missed(mutant, tmp_path) == {}


@pytest.mark.component
def test_a_mutant_that_is_none_is_missed(tmp_path: Path) -> None:
    mutant = next(mutant for mutant in of_file("bolt") if mutant.name == "ack-twice")
    command = (*mutant.components[0].command[:-1], "none")
    right = msgspec.structs.replace(mutant.components[0], command=command)
    spared = mutant._replace(components=(right,), claims={"bolt.settle.once": "ack-twice"})
    assert missed(spared, tmp_path) == {"bolt.settle.once": "pass, without ack-twice: "}


@pytest.mark.long
def test_the_stored_soaks_hold_to_their_schema_and_name_cases() -> None:
    files = sorted(data_path("conformance", "kills").glob("*.json"))
    assert {mutant.home for mutant in planted()} >= {soak.home for soak in soaked()} == {file.stem for file in files}
    for file in files:
        assert schemas.explain(msgspec.json.decode(file.read_bytes()), "kills") == []


@pytest.mark.component
def test_what_is_claimed_is_listed_and_with_whole_what_was_seen(tmp_path: Path) -> None:
    claims = mlcheck("list", "--kills", cwd=tmp_path)
    lines = [line.split() for line in claims.stdout.splitlines()]
    assert ["library.bolt.settle.once", "storm_py", "ack-twice", "ack-twice", "claimed"] in lines
    assert {line[0] for line in lines} == set(CASES)
    whole = mlcheck("list", "--kills", "--whole", cwd=tmp_path)
    [soak] = [soak for soak in soaked() if soak.home == "bolt"]
    seen = [case for case, rules in soak.mutants["ack-twice"].kills.items() if "ack-twice" in rules]
    assert seen
    for case in seen:
        assert any(line.split()[:3] == [case, "bolt", "ack-twice"] for line in whole.stdout.splitlines())
    assert f"bolt: {len(soak.mutants)} mutants" in whole.stderr
