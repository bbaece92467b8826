"""RunResult as SARIF 2.1.0, for code scanning and editors: a result for each trouble, at the line to look at.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from multilang_cli.catalogue.written import quoted
from multilang_cli.reports.bundles import bundles, groups_in
from multilang_cli.reports.escape import escape, escape_json, fit
from multilang_cli.reports.formats.github import file_of, level_of, line_of
from multilang_cli.reports.grouping import first_paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.grouping import Group
    from multilang_cli.reports.model import ComponentReport, RunResult

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SITE = "https://multilang-cli.dev/"
NO_FILE = "mlcheck.toml"
"""The place of a trouble of which no file is known: code scanning refuses results without one."""
_CELLS = 1000

Json = dict[str, Any]


def to_sarif(result: RunResult, rulebook: Rulebook) -> str:
    """A log with one run; a trouble that several cases or versions have in common is told once."""
    rules: dict[str, Json] = {}
    results: list[Json] = []
    for bundle in bundles(result):
        for group in groups_in(bundle.parts):
            described = _descriptor(group, rulebook)
            rules.setdefault(described["id"], described)
            results.append(_result(group, bundle.parts, described["id"], list(rules).index(described["id"]), rulebook))
    driver = {
        "name": result.tool.name,
        "version": result.tool.version,
        "informationUri": SITE,
        "rules": list(rules.values()),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": result.complete, "exitCode": result.exit_code}],
        "results": results,
        "properties": {
            "verdict": result.verdict,
            "storm": result.storm,
            "suite": result.suite.name,
            "components": [escape(part.component.name) for part in result.parts or (result,)],
            "versions": [escape(sentence) for sentence in result.sentences],
        },
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return escape_json(json.dumps(log, ensure_ascii=False, indent=2)) + "\n"


def _descriptor(group: Group, rulebook: Rulebook) -> Json:
    """The description of what was broken: a rule, else the case that shows it."""
    rule = group.rule(rulebook)
    if rule is None:
        name = group.finding.rule if group.finding else group.first.id
        return {"id": name, "shortDescription": _text(group.first.title)}
    return {
        "id": rule.id,
        "shortDescription": _text(rule.title),
        "fullDescription": _text(" ".join(filter(None, (first_paragraph(rule.why), quoted(rule.clause))))),
        "help": _text(first_paragraph(rule.mend)),
        "helpUri": f"{SITE}reference/rules/#{rule.id}",
        "defaultConfiguration": {"level": {"must": "error", "should": "warning", "note": "note"}[rule.level]},
    }


def _result(group: Group, parts: Sequence[RunResult], rule: str, index: int, rulebook: Rulebook) -> Json:
    found: Json = {
        "ruleId": rule,
        "ruleIndex": index,
        "level": level_of(group, parts),
        "message": _text("\n".join(_lines(group, rulebook))),
        "locations": [{"physicalLocation": _location(group, parts[-1].component)}],
        "properties": {
            "cases": [subject.id for subject in group.subjects],
            "storm": list(group.storms or (part.storm for part in parts)),
        },
    }
    if group.finding and group.finding.fingerprint:
        found["partialFingerprints"] = {"mlcheck/v1": group.finding.fingerprint}
    return found


def _lines(group: Group, rulebook: Rulebook) -> Iterator[str]:
    for label, text in group.told(rulebook):
        if label in {"Cause", group.label}:
            yield text
        elif label == "Mend":
            yield f"Do: {text}"
        elif label.startswith("Storm"):
            yield f"{label}: {text}"
    if group.first.reproduce:
        yield f"Again: {group.first.reproduce}"


def _location(group: Group, component: ComponentReport) -> Json:
    """The line to look at in the user's own file; else the component's file; else the configuration."""
    file, line = line_of(group, component) or (file_of(component, Path.cwd()), 0)
    place: Json = {"artifactLocation": {"uri": quote(file or NO_FILE)}}
    if line:
        place["region"] = {"startLine": line}
    return place


def _text(text: str) -> Json:
    return {"text": "\n".join(fit(escape(line), _CELLS).text for line in text.splitlines()) or "-"}
