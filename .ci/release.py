"""Builds a release and tries it as a user would: sdist and wheel of the last commit, in dist/.

    python3 dev.py release [--python 3.11 --python 3.12 ...] [--out DIRECTORY]

Both are built twice, in two places, and must come out byte for byte alike; SOURCE_DATE_EPOCH is the commit's time.
twine checks what a package index would. Each Python, as uv finds it on this machine, gets an environment of its own
with the wheel, where `mlcheck` and `multilang-cli` check a component. Nothing is uploaded and nothing is tagged.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
TWINE = "twine==7.0.0"
UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)


class ReleaseError(Exception):
    """A step failed: the message says which, and how."""


def main(arguments: list[str]) -> int:
    """Build, check and try; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", metavar="VERSION", help=f"default: {', '.join(PYTHONS)}")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIRECTORY", help="default: dist")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mlcheck-release-") as scratch:
        try:
            release(Path(scratch), asked.python or list(PYTHONS), asked.out)
        except ReleaseError as error:
            print(f"release: {error}", file=sys.stderr)
            return 1
    return 0


def release(scratch: Path, pythons: list[str], out: Path) -> None:
    """Do every step, and say what is left. Raises ReleaseError."""
    epoch = call("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    built = [build(scratch / name, epoch) for name in ("one", "another place")]
    alike(*built)
    call("uv", "tool", "run", "--from", TWINE, "twine", "check", "--strict", *map(str, built[0]), cwd=scratch)
    print("twine: passed")
    [wheel] = [file for file in built[0] if file.suffix == ".whl"]
    for python in pythons:
        print(f"Python {python}: {try_out(wheel, python, scratch / python)}")
    out.mkdir(parents=True, exist_ok=True)
    for file in built[0]:
        shutil.copy2(file, out)
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    for left in left_to_do():
        print(f"before publishing: {left}")


def build(folder: Path, epoch: str) -> list[Path]:
    """The sdist and the wheel of the last commit, built in `folder`."""
    source = folder / "source"
    source.mkdir(parents=True)
    call("git", "archive", "--output", str(folder / "source.tar"), "HEAD", cwd=ROOT)
    # Not tarfile: before Python 3.11.4 it has no filter, and behind 3.12 it complains without one.
    call("tar", "--extract", "--file", str(folder / "source.tar"), "--directory", str(source), cwd=ROOT)
    call("uv", "build", "--quiet", "--out-dir", str(folder / "dist"), str(source), cwd=folder, SOURCE_DATE_EPOCH=epoch)
    return sorted(file for file in (folder / "dist").iterdir() if file.suffix in {".whl", ".gz"})


def alike(first: list[Path], second: list[Path]) -> None:
    """Raise ReleaseError unless both builds have the same files with the same bytes."""
    for one, other in zip(first, second, strict=True):
        if one.name != other.name or one.read_bytes() != other.read_bytes():
            raise ReleaseError(f"{one.name} differs from build to build")
        print(f"reproducible: {one.name}, {one.stat().st_size:,} bytes")


def try_out(wheel: Path, python: str, folder: Path) -> str:
    """Install the wheel for one Python and check a component by both commands; the versions, as a line."""
    folder.mkdir()
    call("uv", "venv", "--quiet", "--python", found(python), str(folder / "venv"), cwd=folder)
    programs = folder / "venv" / "bin"
    call("uv", "pip", "install", "--quiet", "--python", str(programs / "python"), str(wheel), cwd=folder)
    said = call(str(programs / "multilang-cli"), "--version", cwd=folder).strip()
    if said != f"mlcheck {project()['version']}":
        raise ReleaseError(f"multilang-cli --version says {said!r}")
    call(str(programs / "mlcheck"), "new", "bolt", "--language", "python", "words", cwd=folder)
    shown = call(str(programs / "multilang-cli"), "run", "-q", cwd=folder / "words")
    call(str(programs / "mlcheck"), "explain", "ack-twice", cwd=folder)
    return f"{said}, {call(str(programs / 'python'), '--version', cwd=folder).strip()}; run: {shown.splitlines()[-1]}"


def found(python: str) -> str:
    """The path of a Python of this version that runs, also below pyenv, whose stand-ins on PATH may not; else its name.

    A name is looked for by uv, which installs what is missing where it can.
    """
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    below = sorted(versions.glob(f"{python}*/bin/python"))
    return str(below[-1]) if below else python


def left_to_do() -> list[str]:
    """What a person has to do or to decide before this can be published."""
    found = []
    changelog = UNRELEASED.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if changelog and changelog[1].strip():
        found.append("CHANGELOG.md has changes under Unreleased")
    if "not tagged yet" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"CHANGELOG.md has no date for {project()['version']}")
    if call("git", "status", "--porcelain", "--untracked-files=no", cwd=ROOT).strip():
        found.append("the tree has changes that are not committed, and so not in these files")
    return [*found, f"git tag v{project()['version']}"]


def project() -> dict[str, str]:
    """The table [project] of pyproject.toml."""
    table: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def call(*command: str, cwd: Path, **more: str) -> str:
    """What `command` prints, started outside of every virtual environment. Raises ReleaseError if it fails."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden} | more
    try:
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ReleaseError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise ReleaseError(f"`{' '.join(command)}` ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
