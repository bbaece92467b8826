"""The composite action of action.yml: a sound file, whose scripts do what docs/ci.md says, without GitHub."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

import dev
from tests.command import BOLT, MUTANT_BOLT, ROOT

FILE = ROOT / "action.yml"
ACTION: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOWS = [text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "jobs:" in text]
OURS = sorted(path.relative_to(ROOT) for path in (ROOT / ".github" / "workflows").glob("*.yml"))
"""Workflows of this repository."""
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""How a runner starts the scripts of `shell: bash`."""


def check_schema(schema: str, file: Path) -> None:
    program = Path(sys.executable).with_name("check-jsonschema")
    done = subprocess.run(
        [program, "--builtin-schema", schema, file], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.component
def test_the_action_is_one(tmp_path: Path) -> None:
    check_schema("vendor.github-actions", FILE)
    broken = tmp_path / "action.yml"
    broken.write_text(FILE.read_text(encoding="utf-8").replace("using: composite", "using: shell"), encoding="utf-8")
    with pytest.raises(AssertionError):
        check_schema("vendor.github-actions", broken)


@pytest.mark.component
def test_the_workflow_of_the_page_is_one_and_gives_inputs_that_there_are(tmp_path: Path) -> None:
    (text,) = WORKFLOWS
    file = tmp_path / "workflow.yml"
    file.write_text(text, encoding="utf-8")
    check_schema("vendor.github-workflows", file)
    (job,) = yaml.safe_load(text)["jobs"].values()
    (used,) = [step for step in job["steps"] if "mlcheck" in step.get("uses", "")]
    assert set(used["with"]) <= set(ACTION["inputs"])
    assert all(f"`{name}`" in PAGE for name in ACTION["inputs"])


@pytest.mark.component
def test_workflows_of_our_own_are_some_and_ask_for_vulnerabilities() -> None:
    assert OURS
    for path in OURS:
        check_schema("vendor.github-workflows", ROOT / path)
    assert any("run: python dev.py audit\n" in (ROOT / path).read_text(encoding="utf-8") for path in OURS)


def test_inputs_reach_scripts_through_the_environment_alone() -> None:
    """What is put into a script by GitHub would be run by the shell."""
    assert not [step for step in STEPS.values() if "${{" in step.get("run", "")]


def run_step(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a step as a runner does; `inputs` by the names of its environment."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MLCHECK_")}
    files = {f"GITHUB_{each}": str(folder / each.lower()) for each in ("OUTPUT", "STEP_SUMMARY")}
    return subprocess.run(
        [*BASH, STEPS[name]["run"]],
        cwd=folder,
        env={**kept, **files, "RUNNER_TEMP": str(folder), **inputs},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A folder in which mlcheck stands where the first step puts it."""
    programs = tmp_path / "mlcheck" / "bin"
    programs.mkdir(parents=True)
    (programs / "mlcheck").symlink_to(Path(sys.executable).with_name("mlcheck"))
    return tmp_path


@pytest.mark.component
def test_a_bolt_that_is_right_is_green(runner: Path) -> None:
    arguments = f'-k\nbolt.settle.once\n--tuple\n["a $(touch hurt) b"]\n--\n{sys.executable}\n{BOLT}\n'
    done = run_step("Run mlcheck", runner, ARGUMENTS=arguments, STRICT="true")
    assert done.returncode == 0, done.stderr + done.stdout
    assert (runner / "output").read_text(encoding="utf-8") == "exit-code=0\n"
    assert "## PASS" in (runner / "step_summary").read_text(encoding="utf-8")
    suite = ET.parse(runner / "mlcheck.xml").getroot()  # noqa: S314  # made here
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")
    assert not (runner / "hurt").exists()


@pytest.mark.component
def test_a_bolt_that_is_wrong_is_red_and_marked(runner: Path) -> None:
    arguments = f"-k\nbolt.settle.once\n--\n{sys.executable}\n{MUTANT_BOLT}\nack-twice"
    done = run_step("Run mlcheck", runner, ARGUMENTS=arguments, STRICT="true")
    assert done.returncode == 1, done.stderr + done.stdout
    assert (runner / "output").read_text(encoding="utf-8") == "exit-code=1\n"
    assert "::error" in done.stdout
    assert ET.parse(runner / "mlcheck.xml").getroot().get("failures") == "1"  # noqa: S314  # made here
    assert list((runner / ".mlcheck" / "last").glob("*.ndjson"))


@pytest.mark.component
def test_nothing_to_check_is_red(runner: Path) -> None:
    done = run_step("Run mlcheck", runner, ARGUMENTS="", STRICT="false")
    assert done.returncode == 2
    assert (runner / "output").read_text(encoding="utf-8") == "exit-code=2\n"


@pytest.mark.install
def test_the_first_step_installs_the_version_that_the_action_comes_with(tmp_path: Path) -> None:
    done = run_step("Install mlcheck", tmp_path, PACKAGE=str(ROOT), LOCK=str(ROOT / "requirements.lock"))
    assert done.returncode == 0, done.stderr
    said = subprocess.run([tmp_path / "mlcheck" / "bin" / "mlcheck", "--version"], capture_output=True, check=True)
    assert said.stdout.startswith(b"mlcheck ")


def test_the_lock_of_the_action_is_that_of_uv() -> None:
    """`python3 dev.py lock` writes it anew."""
    assert (ROOT / "requirements.lock").read_text(encoding="utf-8") == dev.requirements()


@pytest.mark.parametrize(
    "name", ["action.yml", "templates/new/mlcheck.yml", "docs/ci.md", "docs/reports.md", *map(str, OURS)]
)
def test_actions_of_others_are_pinned_by_commit(name: str) -> None:
    """A tag can be moved to other code; the version stands behind it for people, and for bots that raise it."""
    used = re.findall(r"uses: (\S+@.*)", (ROOT / name).read_text(encoding="utf-8"))
    assert used
    for each in used:
        assert each.startswith("OWNER/mlcheck@") or re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)
