"""RunResult as JSON: ``schemas/report.schema.json``."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.escape import escape_json

if TYPE_CHECKING:
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Profile
    from multilang_cli.reports.model import RunResult

HIDDEN = "(not shown)"
"""Stands for every value of conf that could be a secret."""

_SHOWN_CONF = frozenset(
    {
        "storm.cluster.mode",
        "topology.max.spout.pending",
        "topology.message.timeout.secs",
        "topology.multilang.serializer",
        "topology.shellbolt.max.pending",
        "topology.subprocess.timeout.secs",
        "supervisor.worker.timeout.secs",
        "topology.tick.tuple.freq.secs",
    }
)


def to_json(result: RunResult, rulebook: Rulebook | None = None) -> str:  # noqa: ARG001  # all formats are called alike
    """The report, two spaces deep. Characters that a terminal would obey are written as JSON escapes."""
    plain = msgspec.to_builtins(without_secrets(result), str_keys=True)
    # JSON has no infinity and no NaN: null, as in "no limit".
    finite = json.loads(json.dumps(plain), parse_constant=lambda _: None)
    return escape_json(json.dumps(finite, ensure_ascii=False, indent=2)) + "\n"


def without_secrets(result: RunResult) -> RunResult:
    """The same result with the values of conf hidden, all but the few that explain a verdict."""
    parts = tuple(map(without_secrets, result.parts))
    profile = None if result.profile is None else _public(result.profile)
    return msgspec.structs.replace(result, profile=profile, parts=parts)


def _public(profile: Profile) -> Profile:
    conf = {key: value if key in _SHOWN_CONF else HIDDEN for key, value in profile.conf.items()}
    # An infinite limit is none, and JSON can't say it.
    limits = {name: limit for name, limit in profile.limits.items() if math.isfinite(limit)}
    return msgspec.structs.replace(profile, conf=conf, limits=limits)
