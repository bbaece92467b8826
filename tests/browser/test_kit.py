"""The kit in the package is what its sources make, and fits into a page of a strict policy."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from multilang_cli.reports.html.page_file import KIT

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "page_kit"
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|dangerously|https?://"
)
LINES = 350


def npm(folder: Path, *words: str) -> str:
    command = [shutil.which("npm") or "npm", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_the_kit_is_what_its_sources_make_byte_for_byte(tmp_path: Path) -> None:
    copy = tmp_path / "page_kit"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("node_modules"))
    kit = tmp_path / KIT.relative_to(ROOT)
    shutil.copytree(KIT, kit)
    npm(copy, "ci", "--ignore-scripts", "--prefer-offline")
    npm(copy, "run", "types")
    npm(copy, "run", "check")
    (kit / "page.js").write_text("changed", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"not what page_kit/src makes: .*page\.js\. Run: npm ci"):
        npm(copy, "run", "check")


def test_every_package_has_one_exact_version_and_a_licence_that_is_told() -> None:
    package = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))
    licences = (SOURCES / "LICENSES.txt").read_text(encoding="utf-8")
    for name, version in {**package["dependencies"], **package["devDependencies"]}.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
    for name in [*package["dependencies"], "@dagrejs/graphlib"]:
        assert f"\n{name}\n" in licences


def test_sources_are_small_and_make_no_html_of_text() -> None:
    for path in SOURCES.glob("src/**/*.*"):
        text = path.read_text(encoding="utf-8")
        assert FORBIDDEN.findall(text) == [], path
        limit = LINES * 2 if path.suffix == ".css" else LINES
        assert len(text.splitlines()) <= limit, path


def test_the_kit_loads_nothing_and_evaluates_nothing() -> None:
    script, style = ((KIT / name).read_text(encoding="ascii") for name in ("page.js", "page.css"))
    assert re.findall(r"\beval\(|new Function\(|importScripts|XMLHttpRequest|\bfetch\(", script) == []
    assert re.findall(r"url\(|@import|expression\(", style) == []
