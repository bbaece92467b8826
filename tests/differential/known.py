"""Differences that are known: where mlcheck falls short, or where the two sides can't be compared, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.words.rulebook import covers

if TYPE_CHECKING:
    from tests.differential.comparing import Difference


@dataclass(frozen=True)
class Known:
    """Differences whose signatures match `signature` (a regular expression), on the Storm versions of `versions`."""

    signature: str
    versions: str
    reason: str


KNOWN: tuple[Known, ...] = (
    Known(
        r"spout events: .* for .*, emit for emit refused .*",
        ">=0.10,<2.0",
        "a tuple with an id that reaches no task is acked inside emit, so that what kills Storm later comes out of it",
    ),
    Known(
        r".* fate: loses-data for survives \[.*(two-messages-one-end|pid-not-first).*\]",
        "*",
        "what was lost is no call of the collector but a sync or a pid, which the recorded events can't show",
    ),
)
"""Each must be needed: whoever mends one takes it out."""


def reason_for(difference: Difference, version: str) -> str:
    """Why a difference on Storm `version` is expected, "" if it is not."""
    id_ = load_rulebook().version(version).id
    for known in KNOWN:
        if covers(known.versions, id_) and re.fullmatch(known.signature, difference.signature):
            return known.reason
    return ""
