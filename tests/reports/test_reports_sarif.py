"""The SARIF report: of the shape that the standard asks for, with the line to look at, and nothing hidden in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import msgspec
import pytest

from multilang_cli.causes.model import Cause, Place
from multilang_cli.reports.formats.sarif import NO_FILE, to_sarif
from multilang_cli.reports.model import ComponentReport
from tests.results import RESULTS, RULEBOOK, TWICE, WARNED, result

if TYPE_CHECKING:
    from pathlib import Path


def closed(required: str, **properties: object) -> dict[str, object]:
    """An object with these properties and no others; those named in `required` must be there."""
    return {"type": "object", "required": required.split(), "additionalProperties": False, "properties": properties}


TEXT = closed("text", text={"type": "string", "minLength": 1})
STRING = {"type": "string"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
# Sections 3.13, 3.14, 3.19, 3.27, 3.29, 3.30 and 3.49 of the standard, cut to the properties that are written.
LOG = closed(
    "version runs",
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "items": closed(
            "tool results",
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            properties={"type": "object"},
            tool=closed(
                "driver",
                driver=closed(
                    "name",
                    name=STRING,
                    version=STRING,
                    informationUri=STRING,
                    rules={
                        "type": "array",
                        "uniqueItems": True,
                        "items": closed(
                            "id",
                            id=STRING,
                            shortDescription=TEXT,
                            fullDescription=TEXT,
                            help=TEXT,
                            helpUri={"type": "string", "format": "uri"},
                            defaultConfiguration=closed("", level=LEVEL),
                        ),
                    },
                ),
            ),
            invocations={
                "type": "array",
                "items": closed(
                    "executionSuccessful", executionSuccessful={"type": "boolean"}, exitCode={"type": "integer"}
                ),
            },
            results={
                "type": "array",
                "items": closed(
                    "message",
                    ruleId=STRING,
                    ruleIndex={"type": "integer", "minimum": -1},
                    level=LEVEL,
                    message=TEXT,
                    partialFingerprints={"type": "object", "additionalProperties": STRING},
                    properties={"type": "object"},
                    locations={
                        "type": "array",
                        "items": closed(
                            "",
                            physicalLocation=closed(
                                "",
                                artifactLocation=closed("", uri={"type": "string", "format": "uri-reference"}),
                                region=closed("", startLine={"type": "integer", "minimum": 1}),
                            ),
                        ),
                    },
                ),
            },
        ),
    },
)


def run_of(text: str) -> Any:
    [run] = json.loads(text)["runs"]
    return run


@pytest.mark.parametrize("name", RESULTS)
def test_the_shape_is_that_of_the_standard(name: str) -> None:
    text = to_sarif(RESULTS[name], RULEBOOK)
    jsonschema.validate(json.loads(text), LOG, cls=jsonschema.Draft202012Validator)
    assert text.replace("\n", "").isprintable()


def test_equal_troubles_are_one_result_with_the_rule_that_was_broken() -> None:
    run = run_of(to_sarif(RESULTS["fail"], RULEBOOK))
    rules = run["tool"]["driver"]["rules"]
    told = [(each["ruleId"], each["level"], rules[each["ruleIndex"]]["id"]) for each in run["results"]]
    assert told == [("ack-twice", "error", "ack-twice"), ("direct-emit", "warning", "direct-emit")]
    assert run["results"][0]["properties"]["cases"] == ["bolt.settle.once", "bolt.settle.unicode"]
    assert "Do: " in run["results"][0]["message"]["text"]
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_strict_makes_a_warning_an_error() -> None:
    [only] = run_of(to_sarif(result(WARNED, strict=True), RULEBOOK))["results"]
    assert only["level"] == "error"


def test_a_result_has_the_line_of_the_users_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (tmp_path / "my bolt.py").write_text("x\n" * 9, encoding="utf-8")
    component = ComponentReport(command=("python3", "my bolt.py"))
    cause = Cause(id="dies", certainty="certain", headline="it dies", place=Place("my bolt.py", 7))
    blamed = msgspec.structs.replace(TWICE, causes=(cause,))
    [one] = run_of(to_sarif(result(blamed, component=component), RULEBOOK))["results"]
    assert one["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20bolt.py"},
        "region": {"startLine": 7},
    }
    [one] = run_of(to_sarif(result(TWICE, component=component), RULEBOOK))["results"]
    assert one["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "my%20bolt.py"}}
    [one] = run_of(to_sarif(RESULTS["hostile"], RULEBOOK))["results"]
    assert one["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": NO_FILE}}
