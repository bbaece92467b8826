"""The pytest plugin: fixtures `shell_bolt` and `shell_spout`, and the marker `mlcheck`.

    def test_it_splits(shell_bolt):
        bolt = shell_bolt("python3", "split.py", streams={"default": ["word"]})
        answer = bolt.send(["snow white"])
        assert answer.values == [["snow"], ["white"]]
        assert answer.anchored and answer.done

At the end what the judge found fails the test: every must, and every should if ``@pytest.mark.mlcheck(strict=True)``.
``@pytest.mark.mlcheck(allow=["exited"])`` takes findings of these rules; ``storm="1.2"`` plays another Storm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.subject.options import Component, InputSource
    from multilang_cli.testing.driven import Driven, DrivenBolt, DrivenSpout

WISHES = ("storm", "strict", "allow")
MARKER = f"mlcheck({', '.join(WISHES)}): how mlcheck judges the components of this test"

_TOLD = pytest.StashKey[dict[str, None]]()
"""The notes on environments, each once."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)
    config.stash[_TOLD] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell once in what the environment of the components was another than that of the tests."""
    for note in config.stash[_TOLD]:
        terminalreporter.write_line(f"mlcheck: {note}")


@pytest.fixture
def shell_bolt(request: pytest.FixtureRequest) -> Iterator[Callable[..., DrivenBolt]]:
    """Starts bolts: ``shell_bolt(*command, streams=, sources=, conf=, env=, cwd=)``.

    Each is judged and ended after the test. `streams` and `sources`: fields by stream, and by component or
    ``component:stream``.
    """
    from multilang_cli.testing.driven import DrivenBolt  # noqa: PLC0415 (not needed where nobody asks for it)

    yield from _starter(request, DrivenBolt, "bolt")


@pytest.fixture
def shell_spout(request: pytest.FixtureRequest) -> Iterator[Callable[..., DrivenSpout]]:
    """Starts spouts, as `shell_bolt` does."""
    from multilang_cli.testing.driven import DrivenSpout  # noqa: PLC0415 (not needed where nobody asks for it)

    yield from _starter(request, DrivenSpout, "spout")


def _starter(request: pytest.FixtureRequest, driven: type[Any], kind: str) -> Iterator[Callable[..., Any]]:
    marker = request.node.get_closest_marker("mlcheck")
    wishes: dict[str, Any] = dict(marker.kwargs) if marker else {}
    running: list[Driven] = []

    def start(
        *command: str,
        streams: Mapping[str, Sequence[str]] | None = None,
        sources: Mapping[str, Sequence[str]] | None = None,
        storm: str = "",
        **more: Any,
    ) -> Driven:
        """Start a component; it is ended with the test. `more`: as in a [[component]] of mlcheck.toml."""
        if wrong := _misuse(command, storm or wishes.get("storm", ""), more.get("limits", {}), wishes):
            pytest.fail(f"mlcheck: {wrong}", pytrace=False)
        from multilang_cli.subject.options import Component, StreamDeclaration  # noqa: PLC0415

        if streams:
            more["streams"] = {name: StreamDeclaration(tuple(fields)) for name, fields in streams.items()}
        if sources:
            more["sources"] = _sources(sources)
        component = Component(command=command, kind=kind, **more)  # type: ignore[arg-type]
        _well_declared(component)
        one: Driven = driven(component, storm or wishes.get("storm", ""))
        running.append(one)
        request.config.stash[_TOLD].update(dict.fromkeys(one.surroundings))
        return one

    try:
        yield start
    finally:
        for one in running:
            one.end()
    _judge([finding for one in running for finding in one.findings], wishes, running)


def _sources(told: Mapping[str, Sequence[str]]) -> tuple[InputSource, ...]:
    from multilang_cli.subject.options import InputSource  # noqa: PLC0415

    names = {name: name.partition(":") for name in told}
    return tuple(InputSource(names[name][0], names[name][2] or "default", tuple(told[name])) for name in told)


def _well_declared(component: Component) -> None:
    from multilang_cli.subject.samples import misdeclared  # noqa: PLC0415

    if wrong := misdeclared(component):
        pytest.fail(f"mlcheck: {wrong}", pytrace=False)


def _misuse(command: Sequence[str], storm: str, limits: Mapping[str, float], wishes: Mapping[str, Any]) -> str:
    """A sentence on what a test asks for that can't be; "" if nothing. A misspelt wish must not go unheard."""
    from multilang_cli.catalogue.loader import load_rulebook, load_rules  # noqa: PLC0415
    from multilang_cli.subject.profiles import LIMITS  # noqa: PLC0415

    def unknown(what: str, names: Iterable[str], known: Iterable[str]) -> str:
        """Name the first that is not known."""
        known = tuple(known)
        return next(
            (f"{what} {name!r} is not known; there are {', '.join(known)}" for name in names if name not in known), ""
        )

    if not command:
        return 'which command? For example shell_bolt("python3", "split.py")'
    try:
        load_rulebook(storm).version(storm or "2")
    except KeyError as known:
        return f"there is no Storm version {storm!r}; known are {known.args[0]}"
    if wrong := [name for name, seconds in limits.items() if name in LIMITS and not seconds > 0]:
        return f"the limit {wrong[0]!r} is {limits[wrong[0]]!r}; it is a number of seconds, more than 0"
    return (
        unknown("the marker's", wishes, WISHES)
        or unknown("the rule", wishes.get("allow", ()), load_rules())
        or unknown("the limit", limits, LIMITS)
    )


def _judge(findings: Sequence[Finding], wishes: Mapping[str, Any], running: Sequence[Driven]) -> None:
    levels = {"must", "should"} if wishes.get("strict") else {"must"}
    wrong = [each for each in findings if each.level in levels and each.rule not in wishes.get("allow", ())]
    if wrong:
        from multilang_cli.reports.grouping import in_a_sentence  # noqa: PLC0415

        lines = [in_a_sentence(cause) for one in running for cause in one.causes[:1]]
        lines += [f"{each.rule}: {each.message} (event {each.seq}; mlcheck explain {each.rule})" for each in wrong]
        told = "".join(f"\nstderr: {one.stderr}" for one in running if one.stderr)
        pytest.fail("mlcheck: the component breaks the protocol:\n" + "\n".join(lines) + told, pytrace=False)
