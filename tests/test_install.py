"""The wheel as a user gets it: built from the sdist, installed outside the checkout, used for the main job."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parent.parent
BUILT = {"__pycache__", "lib", "target", "testee", "Cargo.lock"}
"""What a set-up makes among the files that are shipped."""
MADE = (
    "conformance/testees/c/testee",
    "conformance/testees/go/testee",
    "conformance/testees/rust/Cargo.lock",
    "conformance/testees/rust/target/release/testee",
    "conformance/testees/storm_py/lib/storm.py",
    "examples/javascript/node_modules/left.js",
    "oracle/target/oracle.jar",
)
DATA = (
    "schemas",
    "conformance",
    "templates",
    "oracle/src",
    "java_host/src",
    "examples/javascript",
    "examples/python",
    "examples/ruby",
)
LEFT_OUT = re.compile(r"conformance/kills/|oracle/src/.*/(Bench\w*|Choose|Groupers|HostMain|Parse)\.java")
"""What tests and benchmarks alone use."""
ORACLE = {"oracle/pom.xml", "oracle/traced_player.py", "java_host/pom.xml"}
C_SOURCES = {f"examples/c/{name}" for name in ("Makefile", "multilang.h", "sentence_spout.c", "split_bolt.c")}
PACKAGE = "multilang_cli"

pytestmark = [pytest.mark.install, pytest.mark.timeout(300)]


def outside(directory: Path) -> dict[str, str]:
    """An environment in which nothing of the checkout or of its virtual environment is found."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT"}
    kept = {key: value for key, value in os.environ.items() if key not in hidden and not key.startswith("MLCHECK_")}
    return {**kept, "TMPDIR": str(directory), "NO_COLOR": "1"}


def call(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """What `command` prints on stdout; fails unless it ends with `code`."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=outside(cwd),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def uv() -> str:
    found = shutil.which("uv")
    assert found, "uv is not on PATH: start the tests with dev.py"
    return found


@pytest.fixture(scope="module")
def built(uv: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, and the wheel that is built from it, by suffix."""
    directory = tmp_path_factory.mktemp("built")
    call(uv, "build", "--quiet", "--out-dir", directory, ROOT, cwd=directory)
    return {path.suffix: path for path in directory.iterdir() if path.suffix in {".whl", ".gz"}}


@pytest.fixture(scope="module")
def locked(uv: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The versions of uv.lock, as constraints."""
    directory = tmp_path_factory.mktemp("locked")
    export = ("export", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "--quiet")
    call(uv, *export, "--project", ROOT, "--output-file", directory / "locked.txt", cwd=directory)
    return directory / "locked.txt"


def installed(uv: str, directory: Path, *what: str | Path) -> Path:
    """The command mlcheck, installed into a virtual environment in `directory`."""
    call(uv, "venv", "--quiet", directory / "venv", cwd=directory)
    python = directory / "venv" / "bin" / "python"
    call(uv, "pip", "install", "--quiet", "--python", python, *what, cwd=directory)
    return directory / "venv" / "bin" / "mlcheck"


@pytest.fixture(scope="module")
def mlcheck(uv: str, built: dict[str, Path], locked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, from the wheel, in an environment whose path has a space."""
    return installed(uv, tmp_path_factory.mktemp("installed here"), "--constraints", locked, built[".whl"])


def shipped() -> set[str]:
    """The published data of the checkout, as paths below it."""
    return (
        C_SOURCES
        | ORACLE
        | {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
        | {
            path.relative_to(ROOT).as_posix()
            for name in DATA
            for path in (ROOT / name).rglob("*")
            if path.is_file() and not BUILT & set(path.parts)
        }
    ) - left_out()


def left_out() -> set[str]:
    """The files of the checkout that the package does without, as paths below it."""
    paths = {path.relative_to(ROOT).as_posix() for name in DATA for path in (ROOT / name).rglob("*")}
    return {path for path in paths if LEFT_OUT.match(path)}


def test_the_wheel_has_one_package_and_nothing_else_at_top_level(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built[".whl"]) as wheel:
        top = {PurePosixPath(name).parts[0] for name in wheel.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {PACKAGE}
    assert len(top) == 2


def test_the_wheel_has_the_data_inside_the_package(built: dict[str, Path]) -> None:
    prefix = f"{PACKAGE}/_data/"
    with zipfile.ZipFile(built[".whl"]) as wheel:
        names = set(wheel.namelist())
    assert {name.removeprefix(prefix) for name in names if name.startswith(prefix)} == shipped()
    kit = f"{PACKAGE}/reports/html/kit"
    assert {f"{PACKAGE}/py.typed", f"{kit}/page.js", f"{kit}/page.css"} <= names
    assert not [name for name in names if "__pycache__" in name]


def test_the_oracle_of_the_wheel_uses_nothing_that_is_left_out(built: dict[str, Path]) -> None:
    missing = re.compile(
        rf"\b(?:{'|'.join(PurePosixPath(path).stem for path in left_out() if path.endswith('.java'))})\b"
    )
    with zipfile.ZipFile(built[".whl"]) as wheel:
        sources = {name: wheel.read(name).decode() for name in wheel.namelist() if "/oracle/src/" in name}
    assert len(sources) > 20
    assert {name: missing.findall(source) for name, source in sources.items() if missing.search(source)} == {}


def test_what_a_set_up_makes_stays_out_of_the_wheel(uv: str, built: dict[str, Path], tmp_path: Path) -> None:
    subprocess.run(["tar", "--extract", "--file", built[".gz"], "--directory", tmp_path], check=True)
    [root] = tmp_path.iterdir()
    for name in MADE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    call(uv, "build", "--quiet", "--wheel", "--out-dir", tmp_path / "out", root, cwd=tmp_path)
    [prepared] = (tmp_path / "out").glob("*.whl")
    with zipfile.ZipFile(prepared) as wheel, zipfile.ZipFile(built[".whl"]) as right:
        assert set(wheel.namelist()) == set(right.namelist())


def test_the_metadata_asks_for_no_more_than_is_needed(built: dict[str, Path]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(built[".whl"]) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = BytesParser().parsebytes(wheel.read(name))
    asked = metadata.get_all("Requires-Dist", [])
    always = [each for each in asked if "extra ==" not in each]
    assert always == project["dependencies"] == sorted(project["dependencies"])
    assert len(asked) - len(always) == sum(map(len, project["optional-dependencies"].values()))
    assert (metadata["Requires-Python"], metadata["License-Expression"]) == (">=3.11", "Apache-2.0")
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_the_readme_of_a_package_index_leads_out_of_it(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built[".whl"]) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        readme = wheel.read(name).decode().partition("\n\n")[2]
    links = re.findall(r"\]\(([^)\s]+)\)", readme)
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []


def test_a_release_is_built_twice_alike_and_tried(tmp_path: Path) -> None:
    said = call(sys.executable, ROOT / ".ci" / "release.py", "--python", "3.11", "--out", tmp_path, cwd=tmp_path)
    assert said.count("reproducible: ") == len(list(tmp_path.glob("multilang_cli-*"))) == 2
    assert "twine: passed\nPython 3.11: mlcheck " in said


def test_the_sdist_has_what_a_build_and_the_tests_need(built: dict[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = {"pyproject.toml", "uv.lock", "LICENSE", "README.md", "dev.py", "tests/test_install.py", ".ci/run"}
    wanted |= {"page_kit/package-lock.json", "page_kit/src/main.tsx", "page_kit/LICENSES.txt"}
    assert wanted | shipped() <= names
    assert not [
        name for name in names if name.startswith((".venv", ".tools", ".mlcheck", "DESIGN", "page_kit/node_modules"))
    ]


def test_version_and_catalogue(mlcheck: Path, tmp_path: Path) -> None:
    version = call(mlcheck, "--version", cwd=tmp_path).split()
    assert version[0] == "mlcheck"
    assert f"-{version[1]}" in next(mlcheck.parent.parent.glob(f"lib/*/site-packages/{PACKAGE}-*.dist-info")).name
    rules = {line.split()[0] for line in call(mlcheck, "list", "rules", cwd=tmp_path).splitlines()}
    assert rules == {path.stem for path in (ROOT / "conformance" / "rules").glob("*.yaml")}
    assert "messages/emit" in call(mlcheck, "schema", "list", cwd=tmp_path)
    assert "# In CI" in call(mlcheck, "docs", "ci", cwd=tmp_path)


@pytest.mark.parametrize("name", ["split_bolt", "sentence_spout"])
def test_the_main_job(name: str, mlcheck: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "python" / f"{name}.py", tmp_path)
    call(mlcheck, "run", f"{name}.py", "--report", "json=report.json", cwd=tmp_path)
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert report["verdict"] == "conformant"
    assert report["counts"]["pass"] >= 10


def test_a_new_component_from_the_wheel_is_conformant(mlcheck: Path, tmp_path: Path) -> None:
    for language in ("python", "c"):
        said = call(mlcheck, "new", "bolt", "--language", language, language, cwd=tmp_path)
        assert f"{language}/mlcheck.toml" in said.splitlines()
    assert "PASS" in call(mlcheck, "run", cwd=tmp_path / "python")
    assert (tmp_path / "c" / "multilang.h").read_bytes() == (ROOT / "examples" / "c" / "multilang.h").read_bytes()


def test_completion_from_the_wheel(mlcheck: Path, tmp_path: Path) -> None:
    script = call(mlcheck, "completion", "bash", cwd=tmp_path)
    assert script == (ROOT / "templates" / "completion" / "mlcheck.bash").read_text(encoding="utf-8")
    asked = f'{script}\nCOMP_WORDS=("$0" run --kind s) COMP_CWORD=3\n_mlcheck "$0"\necho "$COMPREPLY"'
    assert call("bash", "--norc", "-c", asked, mlcheck, cwd=tmp_path) == "spout\n"


def test_the_kafka_spout_comes_with_its_extra(
    uv: str, mlcheck: Path, built: dict[str, Path], locked: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(built[".whl"]) as wheel:
        assert f"{PACKAGE}/kafka/local/pom.xml" in wheel.namelist()
    spout = mlcheck.with_name("mlcheck-kafka-spout")
    assert "bootstrap.servers" in call(spout, "--help", cwd=tmp_path)
    call(spout, cwd=tmp_path, code=2)
    call(mlcheck, "kafka", "lag", "words", "-b", "127.0.0.1:1", cwd=tmp_path, code=2)
    python = mlcheck.with_name("python")
    what = f"multilang-cli[kafka] @ {built['.whl'].as_uri()}"
    call(uv, "pip", "install", "--quiet", "--python", python, "--constraints", locked, what, cwd=tmp_path)
    imports = "import multilang_cli.kafka.spout, multilang_cli.kafka.stores, multilang_cli.kafka.local.demo"
    call(python, "-c", imports, cwd=tmp_path)


def test_the_sdist_installs_and_does_the_main_job(
    uv: str, built: dict[str, Path], locked: Path, tmp_path: Path
) -> None:
    mlcheck = installed(uv, tmp_path, "--constraints", locked, built[".gz"])
    call(mlcheck, "new", "spout", "--language", "python", "here", cwd=tmp_path)
    assert "PASS" in call(mlcheck, "run", cwd=tmp_path / "here")


def test_the_oldest_packages_that_are_allowed_do(uv: str, built: dict[str, Path], tmp_path: Path) -> None:
    oldest = call(
        uv, "pip", "compile", "--quiet", "--resolution", "lowest-direct", ROOT / "pyproject.toml", cwd=tmp_path
    )
    (tmp_path / "oldest.txt").write_text(oldest, encoding="utf-8")
    mlcheck = installed(uv, tmp_path, "--constraints", tmp_path / "oldest.txt", built[".whl"])
    call(mlcheck, "new", "bolt", "--language", "python", "here", cwd=tmp_path)
    assert "PASS" in call(mlcheck, "run", cwd=tmp_path / "here")
    assert call(mlcheck, "completion", "candidates", "--", "run", "--kind", "s", cwd=tmp_path) == "spout\n"
    call(mlcheck, "explain", "ack-twice", cwd=tmp_path)
    call(mlcheck, "run", "--no-such-option", cwd=tmp_path, code=2)


def test_a_broken_component_is_told_so(mlcheck: Path, tmp_path: Path) -> None:
    text = (ROOT / "examples" / "python" / "split_bolt.py").read_text(encoding="utf-8")
    broken = text.replace('{"command": "ack", "id": message["id"]}', '{"command": "ack", "id": "0"}')
    assert broken != text
    (tmp_path / "broken.py").write_text(broken, encoding="utf-8")
    shown = call(mlcheck, "run", "--kind", "bolt", "-k", "bolt.settle", "broken.py", cwd=tmp_path, code=1)
    assert "FAIL  it names a tuple that it was never given" in shown
