"""Summary of several rounds of measures: figures, ratios, and sentences for people. Pure."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.bench.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.bench.measuring import Measured
    from multilang_cli.protocol.words.verdicts import Kind

_MICRO = 1000
_MIB = 1024 * 1024
SHARES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}


class WindowFigures(NamedTuple):
    """One command at one window: medians over the rounds, round trips of all of them.

    The longest silence and the memory are the most of any round. `cpu`: seconds of CPU time a second.
    """

    window: int
    rates: tuple[float, ...]
    emits: float
    round_trip_us: dict[str, float]
    heartbeat_us: dict[str, float]
    silence_s: float
    cpu: float
    memory_mib: float

    @property
    def rate(self) -> float:
        """Tuples settled a second, or calls of next."""
        return median(self.rates)


def cell_of(rounds: Sequence[Measured]) -> WindowFigures:
    """The rounds of one command at one window."""
    return WindowFigures(
        window=rounds[0].window,
        rates=tuple(each.rate for each in rounds),
        emits=median(each.emits for each in rounds),
        round_trip_us=_times([each.trips for each in rounds]),
        heartbeat_us=_times([each.beats for each in rounds]),
        silence_s=max(each.silence for each in rounds),
        cpu=median(each.cpu for each in rounds),
        memory_mib=max(each.memory for each in rounds) / _MIB,
    )


def _times(histograms: Sequence[Histogram]) -> dict[str, float]:
    whole = Histogram()
    for each in histograms:
        whole.merge(each)
    if not whole.count:
        return {}
    return {**{name: whole.at(share) / _MICRO for name, share in SHARES.items()}, "max": whole.most / _MICRO}


class Ratio(NamedTuple):
    """Ratio of the second command's rate to the first's at a window: median of the rounds, the least and the most."""

    window: int
    middle: float
    low: float
    high: float


def ratios_of(first: Sequence[WindowFigures], second: Sequence[WindowFigures]) -> list[Ratio]:
    """Round by round: what disturbs a round disturbs both."""
    found = []
    for one, two in zip(first, second, strict=True):
        each = [b / a for a, b in zip(one.rates, two.rates, strict=True) if a]
        if each:
            found.append(Ratio(one.window, median(each), min(each), max(each)))
    return found


def sentences_of(cells: Sequence[WindowFigures], kind: Kind, timeout: float, storm: str) -> list[str]:
    """Explain the figures for a Storm that waits `timeout` seconds for a sign of life."""
    if kind == "spout":
        slowest = max(cell.round_trip_us.get("max", 0.0) for cell in cells) / 1e6
        return [f"Storm {storm} ends the worker after {timeout:g} s without a sync; the slowest took {slowest:.3g} s"]
    fastest = max(cells, key=lambda cell: cell.rate)
    deepest = max(cells, key=lambda cell: cell.window)
    said = []
    if deepest.heartbeat_us:
        late = deepest.heartbeat_us["max"] / 1e6
        said.append(
            f"with {deepest.window} tuples in flight a heartbeat was answered after {late:.3g} s at most; the longest "
            f"silence was {deepest.silence_s:.3g} s"
        )
    backlog = f"{fastest.rate * timeout:,.0f} tuples"
    said.append(
        f"Storm {storm} ends the worker after {timeout:g} s without any message (before 0.10: without a sync). At "
        f"{fastest.rate:,.0f} tuples/s the answer to a heartbeat behind {backlog} takes so long"
    )
    return said


def document(cells: Sequence[WindowFigures]) -> list[dict[str, Any]]:
    """The cells as plain values."""
    return [{"window": cell.window, "rate": cell.rate, **cell._asdict()} for cell in cells]


def three_digits(value: float) -> str:
    """A number for people, with three digits at least."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 (three digits)
