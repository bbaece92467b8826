"""The Python API: its page is true, it is typed and imported late, and what can't be is said in a sentence."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import multilang_cli
from multilang_cli import CheckError, Conversation, api, check, judge

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "api.md"
BOLT = ROOT / "examples" / "python" / "split_bolt.py"


@pytest.mark.component
def test_the_page_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [setup] = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    for line in setup.splitlines():
        made = subprocess.run(
            ["sh", "-c", line.replace("mlcheck", f"{sys.executable} -m multilang_cli", 1)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
        )
        assert made.stderr == b""
    examples = doctest.DocTestParser().get_doctest(PAGE.read_text(encoding="utf-8"), {}, "api.md", str(PAGE), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    done = runner.run(examples, out=said.append)
    assert (done.failed, done.attempted > 10) == (0, True), "".join(said)


@pytest.mark.component
def test_the_component_of_the_page_conforms(tmp_path: Path) -> None:
    [code] = [
        block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL) if "class" in block
    ]
    (tmp_path / "split.py").write_text(code, encoding="utf-8")
    result = check(
        sys.executable, "split.py", cwd=str(tmp_path), include=["bolt.settle", "bolt.emit"], record=tmp_path / "last"
    )
    assert (result.component.kind, result.verdict) == ("bolt", "conformant")


def test_nothing_is_imported_before_it_is_used() -> None:
    code = "import sys, multilang_cli; print(sum(name.startswith('multilang_cli') for name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "1\n"


def test_the_package_has_the_names_of_the_api_and_no_others() -> None:
    assert multilang_cli.__all__ == api.__all__
    assert set(api.__all__) <= set(dir(multilang_cli))
    with pytest.raises(AttributeError, match="has no attribute 'chek'"):
        multilang_cli.chek  # noqa: B018  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (check, "which command"),
        (lambda: check("python3", "x.py", sample=[["a"]]), "the key 'sample' is not known; there are"),
        (lambda: check("./no-such-file", kind="bolt"), "no-such-file"),
        (lambda: check("python3", str(BOLT), kind="bolt", include=["bolt.nothing"]), "bolt.nothing"),
        (
            lambda: check(["python3", "x.py"]),  # type: ignore[arg-type]
            """a command is words, as in "python3", "split.py": ['python3', 'x.py']""",
        ),
        (lambda: check("python3", str(BOLT), kind="blot"), "the kind 'blot' is not known; there are bolt, spout, auto"),  # type: ignore[arg-type]
        (lambda: check("python3", str(BOLT), samples=["snow"]), "a sample is written as ['snow'], not 'snow'"),
        (lambda: check("python3", str(BOLT), samples="snow"), "samples is written as ['snow']"),
        (lambda: check("python3", str(BOLT), include="bolt.settle"), "include is written as ['bolt.settle']"),
        (
            lambda: check("python3", "x.py", streams={"default": "word"}),
            "the list of fields of 'default' is written as ['word']",
        ),
        (
            lambda: Conversation.bolt("python3", "x.py", sources={"src": "word"}),
            "the list of fields of 'src' is written as ['word']",
        ),
        (lambda: judge(["a.ndjson"]), "a transcript is a path, and each is an argument of its own"),  # type: ignore[arg-type]
        (judge, "which transcript"),
        (lambda: judge("no-such-file"), "no-such-file: can't be read: No such file"),
        (lambda: judge(BOLT), "split_bolt.py"),
        (lambda: Conversation.bolt("python3", "x.py", limits={"foo": 1}), "the limit 'foo' is not known"),
    ],
)
def test_what_can_not_be_is_said_in_a_sentence(
    call: object, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callable(call)
    with pytest.raises(CheckError, match=re.escape(why)):
        call()
