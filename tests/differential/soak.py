"""Playing portions of random scripts to both sides, and what comes of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from tests.differential.comparing import Difference, compare
from tests.differential.known import reason_for
from tests.differential.scripts import MARK, Forecast, Script, plan
from tests.differential.shrinking import shrink
from tests.differential.sides import ORACLE, ask_ourselves, ask_storm

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.catalogue.oracle import Case, Verdict

PORTION = 2000
"""Outputs that are played in one go."""
PACK = 25
"""Candidates that one process plays."""
SHRUNK = 8
"""Differences of different signatures in a portion that are shrunk, at most: it takes much longer than to find them."""


@dataclass(frozen=True)
class Sides:
    """Whom to ask: the Storm version, and how many processes at once."""

    version: str
    jobs: int = 1
    oracle: Path = ORACLE

    def ask(self, scripts: dict[str, Script]) -> tuple[list[Difference], dict[str, Case], dict[str, Verdict]]:
        """Play scripts to both; where they differ, the cases and Storm's verdicts."""
        cases = {name: script.case(name) for name, script in scripts.items()}
        if not cases:
            return [], {}, {}
        verdicts = ask_storm(list(cases.values()), self.version, oracle=self.oracle, jobs=self.jobs)
        told = ask_ourselves(list(cases.values()), self.version, jobs=self.jobs)
        differences = [d for n, case in cases.items() for d in compare(case, told[n], verdicts[n], self.version)]
        return differences, cases, verdicts

    def sorts(self, scripts: dict[str, Script]) -> dict[str, set[str]]:
        """The sorts of differences that each script shows."""
        found: dict[str, set[str]] = {}
        left: dict[str, Script] = {}
        packs, alone = packed(scripts, self.version)
        differences, _, verdicts = self.ask({name: script for name, (script, _) in packs.items()})
        for name, (_, names) in packs.items():
            reached = max((n + 1 for n in range(len(names)) if f'"{MARK}{n}"' in json.dumps(verdicts[name])), default=0)
            left |= {each: scripts[each] for each in names[reached:]}
        for each in differences:
            names = packs[each.case][1]
            if each.outputs[0] == each.outputs[1] and names[each.outputs[0]] not in left:
                found.setdefault(names[each.outputs[0]], set()).add(each.sort)
        for each in self.ask(alone | left)[0] if alone or left else []:
            found.setdefault(each.case, set()).add(each.sort)
        return found


def packed(scripts: dict[str, Script], version: str) -> tuple[dict[str, tuple[Script, list[str]]], dict[str, Script]]:
    """Scripts of one output that is thought to be harmless as fewer scripts, with their names; and the others."""
    packs: dict[str, tuple[Script, list[str]]] = {}
    alone: dict[str, Script] = {}
    kinds: dict[str, tuple[str, Forecast]] = {}
    for name, script in scripts.items():
        pack, forecast = kinds.get(script.kind, ("", None))
        if forecast is None or len(packs[pack][1]) >= PACK:
            pack, forecast = f"pack-{len(packs)}", Forecast(script.kind, version)
            kinds[script.kind] = pack, forecast
            packs[pack] = Script(script.kind, ()), []
        if script.pid is not None or len(script.outputs) != 1 or forecast.fatal(script.outputs[0]):
            alone[name] = script
        else:
            before, names = packs[pack]
            packs[pack] = Script(script.kind, before.outputs + script.outputs), [*names, name]
    return {name: pack for name, pack in packs.items() if pack[1]}, alone


@dataclass
class Portion:
    """What one seed gave: how many outputs and scripts, Storm's verdicts, the differences not known, those known."""

    seed: int
    scripts: dict[str, Script]
    verdicts: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    known: Counter[str] = field(default_factory=Counter)

    @property
    def outputs(self) -> int:
        """A pid is an output, too."""
        return sum(map(number_of_outputs, self.scripts.values()))

    @property
    def distinct(self) -> dict[str, Difference]:
        """A difference for each signature: the one with the shortest outputs."""
        shortest = sorted(self.differences, key=lambda d: len(repr(self.said(d))), reverse=True)
        return {each.signature: each for each in shortest}

    def said(self, difference: Difference) -> tuple[bytes, ...]:
        """The outputs that a difference is about."""
        script = self.scripts[difference.case]
        first, last = difference.outputs
        return (script.pid,) if script.pid is not None else script.outputs[max(first, 0) : last + 1]

    def alone(self, difference: Difference) -> Script:
        """A script of nothing but what a difference is about."""
        script = self.scripts[difference.case]
        return script if script.pid is not None else replace(script, outputs=self.said(difference))


def number_of_outputs(script: Script) -> int:
    """How much was played: outputs, or the pid."""
    return len(script.outputs) or 1


def scripts_of(seed: int, count: int, version: str) -> dict[str, Script]:
    """Scripts with `count` outputs or a few more: the same for the same seed, version and judge."""
    random = Random(seed)  # noqa: S311 - to be repeated
    scripts: dict[str, Script] = {}
    played = 0
    while played < count:
        script = plan(random, version)
        scripts[f"d{seed}-{len(scripts)}"] = script
        played += number_of_outputs(script)
    return scripts


def play(seed: int, count: int, sides: Sides) -> Portion:
    """Play a portion."""
    portion = Portion(seed, scripts_of(seed, count, sides.version))
    differences, _, verdicts = sides.ask(portion.scripts)
    portion.verdicts.update(verdict["verdict"] for verdict in verdicts.values())
    for difference in differences:
        reason = reason_for(difference, sides.version)
        if reason:
            portion.known[reason] += 1
        else:
            portion.differences.append(difference)
    return portion


def shrunk(portion: Portion, sides: Sides, known: set[str]) -> tuple[list[Difference], list[Case], dict[str, Verdict]]:
    """The portion's new differences as small as they become, with their cases and verdicts. `known`: signatures."""
    chosen = [each for signature, each in portion.distinct.items() if signature not in known][:SHRUNK]
    alone = {f"diff-{each.case}-{each.outputs[1]}": portion.alone(each) for each in chosen}
    sorts = {name: each.sort for name, each in zip(alone, chosen, strict=True)}
    # Most often what was said before does not matter.
    shown = sides.sorts(alone)
    first = {
        name: (alone[name] if sorts[name] in shown.get(name, ()) else portion.scripts[each.case], sorts[name])
        for name, each in zip(alone, chosen, strict=True)
    }
    small = shrink(first, sides.sorts)
    differences, cases, verdicts = sides.ask(small)
    for name, case in cases.items():
        case["about"] = f"found by the differential: {sorts[name]}"
    return differences, list(cases.values()), verdicts


def keep(folder: Path, cases: list[Case], verdicts: dict[str, Verdict], version: str) -> None:
    """Add cases and verdicts to those in `folder`, in the format of conformance/oracle."""
    _write(folder / "cases.json", [*_read(folder / "cases.json", []), *cases])
    by_version = {name: {version: verdict} for name, verdict in verdicts.items()}
    _write(folder / "verdicts.json", _read(folder / "verdicts.json", {}) | by_version)


def _read(file: Path, otherwise: Any) -> Any:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else otherwise


def _write(file: Path, data: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
