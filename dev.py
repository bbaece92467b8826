#!/usr/bin/env python3
"""The commands of a clone, on a machine that nobody prepared. Standard library only.

    python3 dev.py mlcheck ARGUMENTS...   set up what is missing, then run mlcheck with these arguments
    python3 dev.py quick                  lint, types, imports and quick unit tests: a minute, before every commit
    python3 dev.py test [STAGE|PATH...]   set up what is missing, then run all checks and tests, or these
    python3 dev.py lock                   write requirements.lock, from which the GitHub action installs, from uv.lock
    python3 dev.py audit                  write a software bill of materials, and ask for known vulnerabilities
    python3 dev.py lowest                 run the unit tests on the oldest packages that pyproject.toml allows
    python3 dev.py spark VERSION          run the audit's tests, but watch's, on another PySpark, as 3.5.7
    python3 dev.py release                build what is published, twice, and try it with each Python: a minute
    python3 dev.py docs                   show the site, and build it anew when a page changes
    python3 dev.py pictures               make the pictures of the docs anew: screens, and pages in Chromium

What is missing is installed by package managers: Python packages by uv, from uv.lock, into .venv; the programs that
tests need by apt-get, for root on Debian and its kin. Elsewhere the line to type is printed.

Not nox: it would have to be installed first, installs no Debian programs, and ends no stage that is over its budget.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent
BIN = ROOT / ".venv" / "bin"
STAMP = ROOT / ".venv" / "synced"
UV = ROOT / ".tools" / "uv" / "bin" / "uv"
SYSTEM_PYTHON = Path("/usr/bin/python3")
OLDEST = (3, 11)
STORM_PY = ROOT / "examples" / "storm_py"
LIBRARIES = ROOT / "tests" / "libraries" / "install.py"

NOT_SET_UP = 5
"""Exit code when the set-up failed: mlcheck's code for a fault that is not the component's."""

SLACK = 2
"""A stage may take this many times its budget, on a busy machine; then it is ended, and red."""

LAST_WORDS = 20
"""Seconds in which a stage that took too long may tell what it has found."""

PACKAGES = {
    "cc": ("gcc", "libc6-dev"),
    "node": ("nodejs",),
    "npm": ("npm",),
    "ruby": ("ruby",),
    "zsh": ("zsh",),
    "fish": ("fish",),
    "make": ("make",),
    "javac": ("default-jdk-headless",),
    "mvn": ("maven",),
    "go": ("golang-go",),
    "cargo": ("cargo",),
    "perl": ("perl",),
    "lua5.4": ("lua5.4",),
    "cpanel_json_xs": ("libcpanel-json-xs-perl",),
    "php": ("php-cli",),
    "chromium": ("chromium",),
    "chromedriver": ("chromium-driver",),
    "valgrind": ("valgrind",),
}
"""Debian's packages of the programs that tests start."""

PYTEST = (str(BIN / "python"), "-u", "-m", "pytest", "-q", "--durations=3", "-m")
COMPILE = (*PYTEST[: PYTEST.index("-q")], "-q", "--collect-only")
"""Compiles all tests, with their asserts as pytest rewrites them."""
MANY = ("-n", str(min(8, 2 * (os.cpu_count() or 1))), "--dist", "worksteal")
"""Tests at once: two a core, as they wait for processes half of the time."""
AUTO = ("-n", "auto", "--dist", "worksteal")
"""Tests that start no process: one a core."""
TWO = ("-n", "2", "--dist", "loadfile")
"""Files of tests that start Java, two at a time: half of the time it starts, plans or waits, on one core."""
REPORTS = ROOT / ".cache" / "tests"
BYTECODE = ROOT / ".cache" / "bytecode"
COMPILING = 60
"""Seconds that are waited for the tests to be compiled, once the stages before them are over."""
COUNT = re.compile(r'\b(errors|failures|skipped|tests)="(\d+)"')


class Stage(NamedTuple):
    """One part of ``test``: its command, its budget in seconds, and whether it starts programs in all languages."""

    name: str
    budget: int
    command: tuple[str, ...]
    programs: bool = False

    @property
    def runs_tests(self) -> bool:
        """True if pytest runs it: then a run of no test is red."""
        return self.command[: len(PYTEST) - 1] == PYTEST[:-1]


CI = "not soak"
FAST = f"{CI} and not library and not oracle and not kafka and not spark and not storm and not install and not browser"
STAGES = (
    Stage("ruff", 20, (str(BIN / "ruff"), "check")),
    Stage("format", 20, (str(BIN / "ruff"), "format", "--check")),
    Stage("mypy", 120, (str(BIN / "python"), "-m", "mypy")),
    Stage("imports", 30, (str(BIN / "lint-imports"),)),
    Stage("docs", 30, (str(BIN / "mkdocs"), "build", "--quiet", "--strict")),
    Stage("unit", 90, (*PYTEST, f"not component and {FAST}", *AUTO)),
    Stage("work", 60, (str(BIN / "python"), "-m", "benchmarks.work"), programs=True),
    Stage("component", 1000, (*PYTEST, f"component and {FAST}", *MANY), programs=True),
    Stage("library", 450, (*PYTEST, f"library and {CI}", *MANY), programs=True),
    Stage("oracle", 360, (*PYTEST, f"oracle and not storm and not install and {CI}")),
    Stage("kafka", 300, (*PYTEST, f"kafka and not storm and not install and {CI}"), programs=True),
    Stage("spark", 600, (*PYTEST, f"spark and not storm and not install and {CI}", *TWO), programs=True),
    Stage("storm", 720, (*PYTEST, f"storm and not install and {CI}", *TWO), programs=True),
    Stage("browser", 150, (*PYTEST, f"browser and {CI}", "-n", "2"), programs=True),
    Stage("install", 180, (*PYTEST, "install")),
)
BY_HAND = (
    Stage("short", 60, (*PYTEST, f"not component and not long and {FAST}", *AUTO, "--hypothesis-profile", "quick")),
    Stage("examples", 3600, (*PYTEST, f"not component and {FAST}", *AUTO, "--hypothesis-profile", "many")),
    Stage("soak", 14400, (*PYTEST, "soak", *MANY), programs=True),
)
"""Stages that CI leaves out: the unit tests of the quick loop, those with many more examples, and what is too long."""


SCRIPTS = {
    "docs": (str(BIN / "mkdocs"), "serve"),
    "pictures": (str(BIN / "python"), ".ci/pictures.py"),
    "release": (str(BIN / "python"), ".ci/release.py"),
}
"""Commands that are programs of their own."""
BROWSER = ["chromium", "chromedriver"]
"""Programs of ``PACKAGES`` that take pictures of pages."""

QUICK = ("ruff", "format", "mypy", "imports", "short")
"""Stages that start no other program: the loop of whoever changes a line."""

PATHS_BUDGET = 600
"""Seconds for test files that are named one by one."""


class Counts(NamedTuple):
    """How many tests had which outcome. A check that is no test run counts as one test."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __str__(self) -> str:
        """The counts as a line that readers of test output know."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Result(NamedTuple):
    """What became of a stage: `why` it is red, empty if it is green; `seconds`; `counts` of its tests."""

    stage: Stage
    why: str
    seconds: float
    counts: Counts


def main(arguments: list[str]) -> int:
    """Do what the command line asks, and return the exit code."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "mlcheck":
        set_up_python()
        program = str(BIN / "mlcheck")
        # As in an activated environment: components of the examples import the package.
        os.environ["PATH"] = os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])
        os.execv(program, [program, *rest])  # noqa: S606 (mlcheck takes this process over: its signals and exit code)
    if command in SCRIPTS:
        set_up_python()
        have_programs(BROWSER if command == "pictures" else [])
        os.chdir(ROOT)
        return subprocess.run([*SCRIPTS[command], *rest], env=_test_environment(), check=False).returncode
    if command == "quick" and not rest:
        return test(list(QUICK))
    if command == "test":
        return test(rest)
    if command == "spark" and len(rest) == 1:
        return spark(rest[0])
    if command in {"lock", "audit", "lowest"} and not rest:
        return {"lock": lock, "audit": audit, "lowest": lowest}[command]()
    print(__doc__.strip(), "\n\nStages: " + _names(), sep="")
    return 0 if command in {"-h", "--help", "help"} else 2


def set_up_python() -> None:
    """Have in .venv what uv.lock says. Asks no package manager when it is there."""
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    environment.setdefault("UV_PYTHON", quick_python())
    wanted = "\n".join(_digest(ROOT / name) for name in ("uv.lock", "pyproject.toml"))
    wanted += f"\n{ROOT}\n{environment['UV_PYTHON']}\n"
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted and (BIN / "python").exists():
        return
    environment["UV_PROJECT_ENVIRONMENT"] = str(ROOT / ".venv")
    said = _call([find_uv(), "sync", "--locked", "--quiet", "--project", str(ROOT)], environment)
    if said:
        _stop(f"uv could not install the packages of uv.lock{said}", network=True)
    STAMP.write_text(wanted, encoding="utf-8")


def quick_python() -> str:
    """The Python for .venv: the system's where it is new enough, else the one that runs this.

    Distributions build theirs by profiles and without calls through a shared library. One that was compiled by
    default, as pyenv does it, takes a fifth more time for all that mlcheck does.
    """
    check = [str(SYSTEM_PYTHON), "-c", f"import sys; sys.exit(sys.version_info < {OLDEST})"]
    if SYSTEM_PYTHON.exists() and subprocess.run(check, check=False, capture_output=True).returncode == 0:
        return str(SYSTEM_PYTHON)
    return sys.executable


def requirements() -> str:
    """The packages of uv.lock that mlcheck itself needs, with their hashes, as pip reads them."""
    words = (
        "--locked",
        "--no-default-groups",
        "--no-emit-project",
        "--no-header",
        "--no-annotate",
        "--format",
        "requirements.txt",
    )
    return _export(*words)


def _export(*words: str) -> str:
    done = subprocess.run(
        [find_uv(), "export", "--quiet", *words], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout


def lock() -> int:
    """Write the lock of the action."""
    (ROOT / "requirements.lock").write_text(requirements(), encoding="utf-8")
    return 0


def audit() -> int:
    """Write a bill of materials (CycloneDX) of all that users install, and have pip-audit look at it.

    Not a stage of ``test``: it asks a service on the network, and turns red by what others find.
    """
    materials = ROOT / ".cache" / "sbom.cdx.json"
    materials.parent.mkdir(exist_ok=True)
    extras = ("--no-default-groups", "--all-extras")
    materials.write_text(_export(*extras, "--format", "cyclonedx1.5"), encoding="utf-8")
    _say(f"the bill of materials: {materials}")
    listed = materials.with_name("audited.txt")
    listed.write_text(_export(*extras, "--no-emit-project", "--format", "requirements.txt"), encoding="utf-8")
    found = _asked("pypi", listed)
    if unanswered := _unanswered(found):
        # A mirror of the index may not tell of vulnerabilities; a new release is not everywhere at once.
        found |= _asked("osv", listed, unanswered)
    harmful = {name: each["vulns"] for name, each in found.items() if each.get("vulns")}
    for name, each in harmful.items():
        _say(f"{name} {found[name]['version']} is vulnerable: {', '.join(one['id'] for one in each)}")
    if unanswered := _unanswered(found):
        _say(f"nothing is known of {len(unanswered)} of {len(found)} packages, for no service answered for them:")
        for name in unanswered:
            _say(f"  {name}: {found[name]['skip_reason']}")
    if found and not harmful and not unanswered:
        _say(f"no vulnerability of {len(found)} packages is known")
    return 1 if harmful else NOT_SET_UP if unanswered or not found else 0


def _unanswered(found: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, each in found.items() if "vulns" not in each]


def _asked(service: str, listed: Path, names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """What pip-audit is told of each package of a list, or of those with these names.

    Without ``--strict`` it passes over what it was not answered for, with exit code 0: that is read from its report.
    """
    report = listed.with_name(f"audited-{service}.json")
    report.unlink(missing_ok=True)
    words = ("--vulnerability-service", service, "--disable-pip", "--require-hashes", "--requirement", str(listed))
    told = ("--progress-spinner", "off", "--format", "json", "--output", str(report))
    done = subprocess.run(
        [find_uv(), "tool", "run", "pip-audit", *words, *told], check=False, capture_output=True, text=True
    )
    try:
        packages = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
    except (OSError, ValueError, KeyError):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        _say(f"pip-audit could not ask {service}, which may be a fault of the network: {last}")
        packages = [
            {"name": name, "skip_reason": f"{service} could not be asked"} for name in names or _packages_of(listed)
        ]
    return {each["name"]: each for each in packages if not names or each["name"] in names}


def _packages_of(listed: Path) -> list[str]:
    """The packages of a file of requirements."""
    return re.findall(r"^([\w.\-]+)==", listed.read_text(encoding="utf-8"), re.MULTILINE)


def lowest() -> int:
    """Run the unit tests on the lowest versions of direct dependencies; those of uv.lock are the newest tested."""
    folder = ROOT / ".cache" / "lowest"
    pins = folder / "pins.txt"
    folder.mkdir(parents=True, exist_ok=True)
    lowest = ("--resolution", "lowest-direct", "--all-extras", "pyproject.toml", "-o", str(pins))
    if _uv("pip", "compile", "--quiet", *lowest):
        return NOT_SET_UP
    installed = ("-r", str(pins), "--editable", ".")
    return _tested_apart(folder, installed, (f"not component and {FAST}", *AUTO))


def spark(version: str) -> int:
    """Run the audit's tests on another PySpark than uv.lock's. Plans differ there, and `watch` needs 4.0."""
    folder = ROOT / ".cache" / f"spark-{version}"
    pin = folder / "pin.txt"
    folder.mkdir(parents=True, exist_ok=True)
    pin.write_text(f"pyspark=={version}\n", encoding="utf-8")
    others = (f"--ignore=tests/audit/test_audit_{name}.py" for name in ("plans", "watching"))
    tests = (f"spark and {CI}", "tests/audit", *others)
    # Its own Python code imports what later Pythons leave out, with a warning.
    old = ("-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning")
    return _tested_apart(folder, ("--override", str(pin), "--editable", ".[spark,kafka]"), (*tests, *old, *TWO))


def _tested_apart(folder: Path, installed: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Run pytest in an environment of its own below `folder`; `installed`: what pip is told to install there."""
    python = folder / "venv" / "bin" / "python"
    if _uv("venv", "--quiet", "--clear", "--python", quick_python(), str(folder / "venv")):
        return NOT_SET_UP
    if _uv("pip", "install", "--quiet", "--python", str(python), "--group", "dev", *installed):
        return NOT_SET_UP
    return subprocess.run([str(python), *PYTEST[1:], *words], cwd=ROOT, env=_test_environment(), check=False).returncode


def _uv(*words: str) -> int:
    return subprocess.run([find_uv(), *words], cwd=ROOT, check=False).returncode


def find_uv() -> str:
    """The path of uv: from PATH, else installed by pip into an environment of its own in .tools."""
    found = shutil.which("uv")
    if found:
        return found
    if not UV.exists():
        _say("installing uv into .tools")
        python = _private_environment(UV.parent.parent)
        said = _call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"])
        if said:
            _stop(f"pip could not install uv{said}", network=True)
    return str(UV)


def _private_environment(directory: Path) -> str:
    """Make a virtual environment with pip in `directory`; the path of its python."""
    command = [sys.executable, "-m", "venv", "--clear", str(directory)]
    if _can_import("ensurepip"):
        said = _call(command)
    else:
        install_packages(["python3-venv"])
        said = _call(["/usr/bin/python3", *command[1:]])
    if said:
        _stop(f"{sys.executable} could not make a virtual environment{said}")
    return str(directory / "bin" / "python")


def _can_import(module: str) -> bool:
    check = [sys.executable, "-c", f"import {module}"]
    return subprocess.run(check, check=False, capture_output=True).returncode == 0


def have_programs(names: list[str]) -> None:
    """Have these programs on PATH."""
    os.environ["PATH"] = _working_path(os.environ.get("PATH", os.defpath))
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        _say(f"missing: {', '.join(missing)}")
        install_packages([package for name in missing for package in PACKAGES[name]])


def set_up_programs() -> None:
    """Have the programs that tests start, the storm.py of the examples, and the libraries that are judged."""
    have_programs(list(PACKAGES))
    if not (STORM_PY / "storm.py").exists():
        _say("fetching storm.py with Maven")
        said = _call([sys.executable, str(STORM_PY / "get_storm.py")])
        if said:
            _stop(f"Maven could not fetch storm.py{said}", network=True)
    said = _call([str(BIN / "python"), str(LIBRARIES)])
    if said:
        _stop(f"the multilang libraries could not be installed{said}", network=True)


def _working_path(path: str) -> str:
    """PATH without folders whose cargo does not run: rustup's stands there, and fails under another HOME."""
    return os.pathsep.join(
        folder for folder in path.split(os.pathsep) if not _is_dead(shutil.which("cargo", path=folder))
    )


def _is_dead(program: str | None) -> bool:
    return (
        program is not None and subprocess.run([program, "--version"], check=False, capture_output=True).returncode != 0
    )


def install_packages(packages: list[str]) -> None:
    """Install Debian packages as root; for others print the line to type, and stop."""
    line = f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        _stop(f"install these first, on Debian with: sudo {line}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _say(line)
    said = _call(["apt-get", "update", "-qq"], environment) or _call(line.split(), environment)
    if said:
        _stop(f"apt-get could not install {' '.join(packages)}{said}", network=True)


def test(names: list[str]) -> int:
    """Run the stages and test files of these names, all stages if there is none, and sum up. Returns the exit code."""
    known = {stage.name for stage in (*STAGES, *BY_HAND)}
    paths = [name for name in names if name not in known and is_test(name)]
    unknown = [name for name in names if name not in known and name not in paths]
    if unknown:
        _say(f"no stage or test file {', '.join(unknown)}; stages: {_names()}")
        return 2
    chosen = [stage for stage in (*STAGES, *BY_HAND) if stage.name in names] if names else list(STAGES)
    if paths:
        chosen.append(Stage("paths", PATHS_BUDGET, (*PYTEST[:-1], *paths)))
    # What is started in the background, or by nohup, ignores these, and so would all that the tests start and signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    started = time.monotonic()
    set_up_python()
    if any(stage.programs for stage in chosen):
        set_up_programs()
    print(f"-- set-up: {time.monotonic() - started:.1f} s", flush=True)
    return _sum_up(run_stages(chosen), time.monotonic() - started)


def _names() -> str:
    return f"{', '.join(stage.name for stage in STAGES)}; by hand: {', '.join(stage.name for stage in BY_HAND)}"


def is_test(name: str) -> bool:
    """True for a path in tests/, one test of a file (``tests/test_x.py::test_y``) included."""
    path = (ROOT / name.partition("::")[0]).resolve()
    return path.exists() and path.is_relative_to(ROOT / "tests")


def run_stages(stages: list[Stage]) -> list[Result]:
    """Run the stages one after another.

    Where no bytecode is left of an earlier run, the tests are compiled beside the stages before the first that runs
    tests: else each of its workers compiles all of them.
    """
    first = next((place for place, stage in enumerate(stages) if stage.runs_tests), 0)
    with contextlib.nullcontext() if BYTECODE.exists() or not first else _compiling():
        results = [run_stage(stage) for stage in stages[:first]]
    return [*results, *(run_stage(stage) for stage in stages[first:])]


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    process = subprocess.Popen(
        COMPILE,
        cwd=ROOT,
        env=_test_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(COMPILING)
    finally:
        _end(process)


def run_stage(stage: Stage) -> Result:
    """Run one stage, showing what it prints."""
    report = REPORTS / f"{stage.name}.xml"
    report.unlink(missing_ok=True)
    command = [*stage.command, f"--junitxml={report}"] if stage.runs_tests else list(stage.command)
    print(f"\n-- {stage.name}: {' '.join(stage.command).replace(f'{BIN}{os.sep}', '')}", flush=True)
    started = time.monotonic()
    process = subprocess.Popen(
        command, cwd=ROOT, env=_test_environment(), stdin=subprocess.DEVNULL, start_new_session=True
    )
    try:
        code: int | None = process.wait(stage.budget * SLACK)
    except subprocess.TimeoutExpired:
        code = None
        process.send_signal(signal.SIGINT)  # then pytest tells what has failed so far
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LAST_WORDS)
    finally:
        _end(process)
    return _result(stage, code, time.monotonic() - started, report)


def _test_environment() -> dict[str, str]:
    """The environment of this process, where uv is found last; no Python package of the user's leaks in.

    Bytecode is kept, whatever the user's choice: without it each of some thousand processes compiles what it imports.
    """
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    environment["PYTHONPYCACHEPREFIX"] = str(BYTECODE)
    environment["NO_MKDOCS_2_WARNING"] = "1"  # mkdocs-material's own, about a later year
    environment["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(UV.parent)])
    return environment


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a stage, and what it left behind in its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _result(stage: Stage, code: int | None, seconds: float, report: Path) -> Result:
    counts = _counts(report)
    why = ""
    if code is None:
        why = f"ended after {SLACK} times its budget"
    elif code != 0:
        why = f"{counts.failed} failed" if counts.failed else f"exit code {code}"
    elif stage.runs_tests and not counts.passed:
        why = "no test ran"
    if not stage.runs_tests:
        counts = Counts(passed=0 if why else 1)
    if why and not counts.failed:
        counts = counts._replace(failed=1)
    return Result(stage, why, seconds, counts)


def _counts(report: Path) -> Counts:
    """The counts of pytest's JUnit report; none if it was not written."""
    if not report.exists():
        return Counts()
    opening = report.read_text(encoding="utf-8").partition("<testcase")[0]
    found = {word: int(number) for word, number in COUNT.findall(opening)}
    failed = found["failures"] + found["errors"]
    return Counts(found["tests"] - failed - found["skipped"], failed, found["skipped"])


def _sum_up(results: list[Result], seconds: float) -> int:
    print("\n-- summary")
    for stage, why, took, counts in results:
        over = " (over its budget)" if took > stage.budget else ""
        print(
            f"{stage.name:10}{took:6.1f} s of {stage.budget:3d}  {counts!s:36}{f'RED: {why}' if why else 'green'}{over}"
        )
    red = [result.stage.name for result in results if result.why]
    print(f"{len(results)} stages in {seconds:.0f} s: {'red: ' + ', '.join(red) if red else 'all green'}")
    total = Counts(*(sum(column) for column in zip(*(result.counts for result in results), strict=True)))
    print(f"total: {total}", flush=True)
    return 1 if red else 0


def _call(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a package manager, its output on our stderr. Empty if it went well, else how it ended."""
    try:
        code = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=2, check=False).returncode
    except OSError as error:
        return f" ({error})"
    return f" (exit code {code})" if code else ""


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _say(text: str) -> None:
    print(f"dev.py: {text}", file=sys.stderr, flush=True)


def _stop(text: str, *, network: bool = False) -> NoReturn:
    _say(text)
    if network:
        _say("the first set-up needs a network; later ones do not, while uv.lock stays as it is")
    sys.exit(NOT_SET_UP)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
