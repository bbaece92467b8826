"""The pytest plugin: fixtures `shell_bolt` and `shell_spout`, and the marker `mlcheck`.

    def test_it_splits(shell_bolt):
        bolt = shell_bolt("python3", "split.py", streams={"default": ["word"]})
        answer = bolt.send(["snow white"])
        assert answer.values == [["snow"], ["white"]]
        assert answer.anchored and answer.done

What the judge found fails the test: every must, and every should if ``@pytest.mark.mlcheck(strict=True)``. A test that
fails at an assert of its own is told the cause there; one that does not fails at its end, not in a teardown.
``@pytest.mark.mlcheck(allow=["exited"])`` ignores findings of these rules; ``storm="1.2"`` plays another Storm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from multilang_cli.testing.driven import Driven, DrivenBolt, DrivenSpout

MARKER_KEYS = ("storm", "strict", "allow")
MARKER = f"mlcheck({', '.join(MARKER_KEYS)}): how mlcheck judges the components of this test"

_TOLD = pytest.StashKey[dict[str, None]]()
"""The notes on environments, each once."""
_RUNNING = pytest.StashKey[list["Driven"]]()
"""The components that a test started."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)
    config.stash[_TOLD] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell once in what the environment of the components was another than that of the tests."""
    for note in config.stash[_TOLD]:
        terminalreporter.write_line(f"mlcheck: {note}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """End and judge the components of a test as the last part of it: its own failure is told their causes."""
    try:
        outcome = yield
    except (Exception, pytest.fail.Exception) as error:
        if told := _judged(item):
            error.add_note(told)
        raise
    if told := _judged(item):
        pytest.fail(told, pytrace=False)
    return outcome


@pytest.fixture
def shell_bolt(request: pytest.FixtureRequest) -> Iterator[Callable[..., DrivenBolt]]:
    """Starts bolts: ``shell_bolt(*command, streams=, sources=, conf=, env=, keep_env=, cwd=, limits=, storm=)``.

    Each is judged and ended after the test. `streams` and `sources`: fields by stream, and by component or
    ``component:stream``. `keep_env`: names of variables that stay, though no Storm worker has them. `limits`: seconds
    by name. `storm`: the version that is played.
    """
    from multilang_cli.testing.driven import DrivenBolt  # noqa: PLC0415 (not needed where nobody asks for it)

    yield from _starter(request, DrivenBolt, "bolt")


@pytest.fixture
def shell_spout(request: pytest.FixtureRequest) -> Iterator[Callable[..., DrivenSpout]]:
    """Starts spouts, as `shell_bolt` does."""
    from multilang_cli.testing.driven import DrivenSpout  # noqa: PLC0415 (not needed where nobody asks for it)

    yield from _starter(request, DrivenSpout, "spout")


def _starter(request: pytest.FixtureRequest, driven: type[Any], kind: Any) -> Iterator[Callable[..., Any]]:
    running = request.node.stash.setdefault(_RUNNING, [])

    def start(
        *command: str,
        streams: Mapping[str, Sequence[str]] | None = None,
        sources: Mapping[str, Sequence[str]] | None = None,
        storm: str = "",
        **more: Any,
    ) -> Driven:
        """Start a component; it is ended with the test. `more`: as in a [[component]] of mlcheck.toml."""
        # pytest prints the arguments of functions that raise: environment, conf and command, with their secrets.
        __tracebackhide__ = True
        from multilang_cli.catalogue.loader import load_rules  # noqa: PLC0415
        from multilang_cli.driver.launch import LaunchError  # noqa: PLC0415
        from multilang_cli.testing.declared import DeclarationError, check_known, declare  # noqa: PLC0415

        options = _options_of(request.node)
        played = storm or options.get("storm", "")
        try:
            check_known("the marker's", options, MARKER_KEYS)
            check_known("the rule", options.get("allow", ()), load_rules())
            component = declare(command, kind, played, streams=streams, sources=sources, **more)
        except DeclarationError as error:
            pytest.fail(f"mlcheck: {error}", pytrace=False)
        try:
            one: Driven = driven(component, played)
        except LaunchError as error:
            raise error.with_traceback(None) from None
        running.append(one)
        request.config.stash[_TOLD].update(dict.fromkeys(one.surroundings))
        return one

    try:
        yield start
    finally:
        # Nothing is left where the test was judged; a fixture that fails leaves what it started.
        _end(request.node)


def _options_of(item: Any) -> dict[str, Any]:
    marker = item.get_closest_marker("mlcheck")
    return dict(marker.kwargs) if marker else {}


def _end(item: Any) -> list[Driven]:
    """End every component of a test that still runs; those that were ended."""
    running: list[Driven] = item.stash.get(_RUNNING, [])
    ended = list(running)
    running.clear()
    for one in ended:
        one.end()
    return ended


def _judged(item: pytest.Item) -> str:
    """Tell a test's author what fails it; "" if nothing does."""
    ended, options = _end(item), _options_of(item)
    levels = {"must", "should"} if options.get("strict") else {"must"}
    stories = [one.story(levels, frozenset(options.get("allow", ()))) for one in ended]
    told = "\n".join(filter(None, stories))
    return f"mlcheck: the component breaks the protocol:\n{told}" if told else ""
