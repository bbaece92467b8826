"""Sixty secrets, planted in conf, environment and command: none of them in anything that any command writes."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.cli.commands import COMMANDS
from tests import secrets
from tests.audit.test_audit_watching import SMALL
from tests.command import mlcheck

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.component

TELLER = Path(__file__).parents[1] / "secrets" / "teller.py"
FORMATS = ("pretty", "json", "junit", "github", "markdown", "sarif", "html")


TESTED = {
    "run": "test_a_verbose_run_and_one_that_dies",
    "lint": "test_what_is_said_of_transcripts",
    "report": "test_pages_and_bundles",
    "replay": "test_a_recording_played_again",
    "diff": "test_a_recording_played_again",
    "shrink": "test_a_recording_played_again",
    "promote": "test_a_recording_played_again",
    "repl": "test_a_session_by_hand",
    "tap": "test_a_tap",
    "topology run": "test_a_topology",
    "topology plan": "test_a_topology",
    "topology explain": "test_a_topology",
    "matrix": "test_a_matrix_of_libraries",
    "audit run": "test_what_is_audited_on_spark",
    "audit replay": "test_what_is_audited_on_spark",
    "audit watch": "test_what_is_audited_on_spark",
    "fuzz": "test_other_ways_to_test_a_component",
    "bench": "test_other_ways_to_test_a_component",
    "host": "test_other_ways_to_test_a_component",
    "config show": "test_what_would_be_done",
    "schema validate": "test_what_would_be_done",
    "init": "test_a_configuration_made_of_a_topology",
    "explain": "test_the_log_of_a_worker",
    "kafka lag": "test_what_is_asked_of_kafka",
}
"""The test above or below in which a command is run where every secret is known."""
TOLD_NOTHING = {
    "docs": "shows pages that come with mlcheck",
    "list rules": "shows data that come with mlcheck",
    "list cases": "shows data that come with mlcheck",
    "list host-cases": "shows data that come with mlcheck",
    "list protocol": "shows data that come with mlcheck",
    "list versions": "shows data that come with mlcheck",
    "list --kills": "shows data that come with mlcheck",
    "schema list": "shows data that come with mlcheck",
    "schema show": "shows data that come with mlcheck",
    "completion": "prints a script that comes with mlcheck",
    "new": "writes components that come with mlcheck",
    "demo": "plays components that come with mlcheck",
    "kafka demo": "plays components that come with mlcheck, with a broker of its own",
    "verify-storm": "plays scripts that come with mlcheck",
}
"""Commands that are given nothing of a component of the user's, and why they can have no secret of it."""
OF_THE_COMMAND_LINE = {
    "kafka lag": ("orders", "-b", "u:{}@127.0.0.1:1", "--client", "sasl.password={}", "--client", "none=1"),
    "audit watch": ("kafka://u:{}@h:1/a/b", "-o", "watched"),
    "docs": ("password={}",),
    "explain": ("no text of Storm --password {}",),
    "list rules": ("--token={}",),
    "init": ("https://u:{}@h/topology.yaml", "-o", "unmade.toml"),
    "new": ("bolt", "--language", "Bearer {}"),
    "schema show": ("password={}",),
    "completion": ("password={}",),
    "run": ("--kind", "password={}", "bolt.py"),
}
"""Words that are refused, and quoted where that is said; `{}` stands for a secret."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose component has all secrets; only its own files hold them."""
    folder = tmp_path_factory.mktemp("project")
    conf, env = secrets.of("conf"), secrets.of("env")
    env |= {"TOLD": json.dumps(sorted(conf)), "TOLD_ENV": json.dumps(sorted(env))}
    command = [sys.executable, str(TELLER), *secrets.words()]
    (folder / "conf.json").write_text(json.dumps(conf), encoding="utf-8")
    lines = ["[[component]]", 'name = "teller"', 'kind = "bolt"', f"command = {json.dumps(command)}"]
    lines += ["[component.streams.default]", 'fields = ["a", "b"]', "[component.env]"]
    lines += [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in env.items()]
    lines += ["[component.conf]", *(f"{json.dumps(key)} = {_toml(value)}" for key, value in conf.items())]
    (folder / "mlcheck.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else json.dumps(value)


def own(project: Path) -> set[Path]:
    names = ("mlcheck.toml", "conf.json", "topology.yaml", "testee/testee.yaml")
    return {project / name for name in names}


def check(project: Path, ran: subprocess.CompletedProcess[str], *codes: int) -> str:
    """Nothing on the screen, nothing in a file."""
    assert ran.returncode in codes, (ran.returncode, ran.stdout[-2000:], ran.stderr[-2000:])
    assert secrets.leaks(ran.stdout.encode()) == []
    assert secrets.leaks(ran.stderr.encode()) == []
    assert secrets.leaks_below(project, but=own(project)) == {}
    return ran.stdout


def reports(stem: str, formats: tuple[str, ...] = FORMATS) -> list[str]:
    return [word for each in formats for word in ("--report", f"{each}={stem}.{each}")]


@pytest.fixture(scope="module")
def recorded(project: Path) -> Path:
    """A transcript of the component, and all reports of a run; what they hold is looked at in the tests."""
    ran = mlcheck("run", "-k", "bolt", "-x", "--record-all", *reports("run"), cwd=project, COLUMNS="100")
    assert ran.returncode == 1, (ran.stdout[-3000:], ran.stderr[-3000:])
    (project / "run.out").write_text(ran.stdout + ran.stderr, encoding="utf-8")
    return next(iter(sorted((project / ".mlcheck" / "last").rglob("*.ndjson"))))


def test_there_are_sixty_of_them() -> None:
    found = [each.secret for each in secrets.planted()]
    assert len(set(found)) == len(found) >= 60


def test_the_search_finds_them_all_where_nothing_is_hidden(project: Path) -> None:
    found = {name: set(leaked) for name, leaked in secrets.leaks_below(project, but=set()).items()}
    assert found["mlcheck.toml"] == {each.secret for each in secrets.planted()}


def test_a_run_its_reports_and_its_transcripts(project: Path, recorded: Path) -> None:
    assert secrets.leaks_below(project, but=own(project)) == {}
    text = recorded.read_text(encoding="utf-8")
    assert text.count("***") > 60
    assert "undeclared" in text


def test_a_verbose_run_and_one_that_dies(project: Path) -> None:
    command = ["--", sys.executable, str(TELLER), *secrets.words(), "--dies"]
    ran = mlcheck("run", "--component", "teller", "-k", "bolt.settle*", "-v", *command, cwd=project)
    check(project, ran, 1)


def test_conf_and_environment_of_the_command_line(project: Path) -> None:
    pairs = [word for key, value in secrets.of("conf").items() for word in ("--conf", f"{key}={json.dumps(value)}")]
    pairs += [word for key, value in secrets.of("env").items() for word in ("--env", f"{key}={value}")]
    command = ["--", sys.executable, str(TELLER), *secrets.words()]
    again = check(project, mlcheck("run", "--kind", "bolt", "-k", "bolt.settle*", *pairs, *command, cwd=project), 1)
    assert "***" in again
    check(
        project, mlcheck("run", "--kind", "bolt", "-k", "bolt.settle*", "--dry-run", *pairs, *command, cwd=project), 0
    )
    missing = [*pairs, "--", "./no-such-program", *secrets.words()]
    check(project, mlcheck("run", "--kind", "bolt", *reports("none"), *missing, cwd=project), 3)
    check(project, mlcheck("run", "--kind", "bolt", "--cwd", "nowhere", *missing, cwd=project), 2)


def test_what_would_be_done(project: Path) -> None:
    check(project, mlcheck("run", "--dry-run", cwd=project), 0)
    shown = check(project, mlcheck("config", "show", cwd=project), 0)
    assert "db.password" in shown
    check(project, mlcheck("config", "show", "--json", cwd=project), 0)
    check(project, mlcheck("schema", "validate", "config", "mlcheck.toml", cwd=project), 0)


def test_every_command_is_searched_or_has_nothing_to_tell() -> None:
    assert TESTED.keys() | TOLD_NOTHING.keys() == COMMANDS.keys()
    assert not TESTED.keys() & TOLD_NOTHING.keys()
    for command, test in TESTED.items():
        source = inspect.getsource(globals()[test])
        words = ", ".join(json.dumps(word) for word in command.split())
        assert f"mlcheck({words}" in source, f"{test} does not run {command}"


@pytest.mark.parametrize("command", OF_THE_COMMAND_LINE)
def test_what_is_refused_is_quoted_without_secrets(command: str, tmp_path: Path) -> None:
    secret = "us3rInfo4711hidden"  # noqa: S105 (planted)
    words = [word.format(secret) for word in OF_THE_COMMAND_LINE[command]]
    ran = mlcheck(*command.split(), *words, cwd=tmp_path)
    assert ran.returncode in {2, 4}
    assert secret not in ran.stdout + ran.stderr


def test_a_configuration_made_of_a_topology(project: Path) -> None:
    """What is written is a configuration to be used, so it holds what the topology does; nothing else shows it."""
    flux = project / "topology.yaml"
    flux.write_text(json.dumps(_topology()), encoding="utf-8")
    for form in ((), ("--json",)):
        made = project / "made.toml"
        ran = mlcheck("init", "topology.yaml", "-o", made.name, *form, cwd=project)
        assert secrets.leaks(made.read_bytes())
        made.unlink()
        check(project, ran, 0)


def test_the_log_of_a_worker(project: Path, tmp_path: Path) -> None:
    told = [f"b.s.ShellBolt [ERROR] Shell Process Exception: {each.key}={each.value}" for each in secrets.planted()]
    told.append("java.lang.RuntimeException: Pipe to subprocess seems to be broken! No output read.")
    log = tmp_path / "worker.log"
    log.write_text("\n".join([*told, *told[:1]]), encoding="utf-8")
    for form in ((), ("--json",)):
        check(project, mlcheck("explain", "--log", str(log), *form, cwd=project), 0)


def test_what_is_asked_of_kafka(project: Path) -> None:
    settings = [word for each in secrets.planted() for word in ("--client", f"{each.key}={each.value}")]
    check(project, mlcheck("kafka", "lag", "t", "-b", "127.0.0.1:1", *settings, cwd=project), 2)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_said_of_transcripts(project: Path, form: str) -> None:
    check(project, mlcheck("lint", ".mlcheck/last", "--report", f"{form}=-", cwd=project), 1)


def test_pages_and_bundles(project: Path, recorded: Path) -> None:
    check(project, mlcheck("report", str(recorded), "-o", "page.html", cwd=project), 0, 1)
    check(project, mlcheck("report", str(recorded), "--bundle", "bundle.zip", cwd=project), 0, 1)
    check(project, mlcheck("report", "--open", "bundle.zip", "-o", "opened", cwd=project), 0, 1)


def test_a_recording_played_again(project: Path, recorded: Path) -> None:
    name = str(recorded)
    check(project, mlcheck("replay", name, "--record", "again", *reports("again"), cwd=project), 0, 1)
    check(project, mlcheck("diff", name, name, *reports("diff"), cwd=project), 0, 1)
    check(project, mlcheck("shrink", name, "-o", "short.ndjson", cwd=project), 0, 1, 6)
    check(project, mlcheck("promote", name, "-o", "bolt.promoted.yaml", cwd=project), 0, 1)


def test_a_session_by_hand(project: Path) -> None:
    commands = 'tuple ["a"]\nwait settle\nconf\npending\nsave case bolt.by-hand\nquit\n'
    check(project, mlcheck("repl", cwd=project, stdin=commands), 0, 1)


@pytest.mark.parametrize("ways", [("--record-all",), ("--ring", "100"), ("-v", "--record-all", "--rotate", "20KiB")])
def test_a_tap(project: Path, ways: tuple[str, ...]) -> None:
    shake = {
        "conf": secrets.of("conf"),
        "pidDir": str(project),
        "context": {"taskid": 3, "task->component": {"3": "b"}},
    }
    beat = {"id": "1", "comp": "s", "stream": "default", "task": 1, "tuple": ["a"]}
    stdin = "".join(f"{json.dumps(each)}\nend\n" for each in (shake, beat))
    env = {key: str(value) for key, value in secrets.of("env").items()}
    env |= {"TOLD": json.dumps(sorted(secrets.of("conf"))), "TOLD_ENV": json.dumps(sorted(env))}
    command = ["--", sys.executable, str(TELLER), *secrets.words()]
    record = f"tapped-{len(ways)}"
    ran = mlcheck("tap", "--record", record, "--kind", "bolt", *ways, *command, cwd=project, stdin=stdin, **env)
    assert ran.returncode == 0, ran.stderr[-2000:]
    _until_recorded(project / record)
    assert secrets.leaks_below(project, but=own(project)) == {}


def _until_recorded(folder: Path) -> None:
    import time  # noqa: PLC0415

    for _ in range(600):
        logs = [path.read_text(encoding="utf-8") for path in folder.glob("*.log")]
        if any("end: " in log for log in logs):
            return
        time.sleep(0.05)
    raise AssertionError("nothing was recorded")


def _topology() -> dict[str, Any]:
    env = {**secrets.of("env"), "TOLD": json.dumps(sorted(secrets.of("conf")))}
    spout = [sys.executable, str(TELLER.parent.parent.parent / "examples" / "python" / "sentence_spout.py")]
    bolt = {
        "id": "teller",
        "className": "org.apache.storm.flux.wrappers.bolts.FluxShellBolt",
        "constructorArgs": [[sys.executable, str(TELLER), *secrets.words()], ["a", "b"]],
        "configMethods": [{"name": "setEnv", "args": [env]}],
        "parallelism": 1,
    }
    return {
        "name": "t",
        "config": secrets.of("conf"),
        "spouts": [
            {
                "id": "s",
                "className": "org.apache.storm.flux.wrappers.spouts.FluxShellSpout",
                "constructorArgs": [spout, ["sentence"]],
                "parallelism": 1,
            }
        ],
        "bolts": [bolt],
        "streams": [{"from": "s", "to": "teller", "grouping": {"type": "SHUFFLE"}}],
    }


def test_a_topology(project: Path) -> None:
    (project / "topology.yaml").write_text(json.dumps(_topology()), encoding="utf-8")
    for form in ((), ("--json",)):
        check(project, mlcheck("topology", "plan", "topology.yaml", *form, cwd=project), 0, 1)
    words = ("topology.yaml", "--messages", "3", "--drain", "5", "--record", "topo", *reports("topo"))
    check(project, mlcheck("topology", "run", *words, cwd=project), 1, 6)
    assert any((project / "topo").rglob("history.ndjson"))
    for form in ((), ("--json",)):
        check(project, mlcheck("topology", "explain", "topo", *form, cwd=project), 0)


def test_a_matrix_of_libraries(project: Path) -> None:
    folder = project / "testee"
    folder.mkdir()
    command = [sys.executable, str(TELLER), *secrets.words()]
    testee = {
        "contract": "1.0",
        "name": "t",
        "language": "Python",
        "library": {"name": "t", "version": "1", "from": "x"},
    }
    told = {**testee, "bolt": command, "supports": ["anchors", "stderr"]}
    (folder / "testee.yaml").write_text(json.dumps(told), encoding="utf-8")
    env = {key: str(value) for key, value in secrets.of("env").items()}
    ran = mlcheck("matrix", "testee", "-o", "matrix", "-k", "bolt.settle.once", "--json", cwd=project, **env)
    assert ran.returncode == 1, (ran.stdout[-2000:], ran.stderr[-2000:])
    assert secrets.leaks((ran.stdout + ran.stderr).encode()) == []
    assert any(b"***" in path.read_bytes() for path in (project / "matrix").rglob("*.ndjson"))
    assert secrets.leaks_below(project, but=own(project)) == {}


@pytest.mark.spark
@pytest.mark.timeout(1500)
def test_what_is_audited_on_spark(project: Path, recorded: Path) -> None:
    check(project, mlcheck("audit", "run", str(recorded), "-o", "audit", *reports("audit"), cwd=project), 0, 1)
    command = ["--", sys.executable, str(TELLER), *secrets.words(), "--dies"]
    told = mlcheck("audit", "replay", str(recorded), "-o", "replayed", *SMALL, *command, cwd=project)
    assert '"change"' in check(project, told, 1)
    watched = mlcheck("audit", "watch", str(recorded.parent), "-o", "watched", "--once", *SMALL, cwd=project)
    check(project, watched, 0)


def test_other_ways_to_test_a_component(project: Path) -> None:
    check(project, mlcheck("fuzz", "--conversations", "3", *reports("fuzz"), cwd=project), 0, 1, 6)
    check(project, mlcheck("bench", "--seconds", "0.2", "--rounds", "1", cwd=project), 0, 1, 3, 6)
    command = ["--", sys.executable, str(TELLER), *secrets.words()]
    check(project, mlcheck("host", "-x", "-k", "host.hand*", *reports("host"), *command, cwd=project), 0, 1, 2, 3, 4, 6)
