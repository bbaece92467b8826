"""Choice of a finding: by its fingerprint, by its rule, or the first that must not be. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.verdicts import Finding

_ORDER = ("must", "should", "note")


def choose(findings: Sequence[Finding], name: str) -> Finding | None:
    """The first finding with the fingerprint or rule `name`; without a name, the first of the gravest level.

    A fingerprint may be cut, from its beginning. None if there is no such finding.
    """
    if name:
        return next((f for f in findings if name == f.rule or f.fingerprint.startswith(name)), None)
    return min(findings, key=lambda finding: (_ORDER.index(finding.level), finding.seq), default=None)


def known(findings: Sequence[Finding]) -> list[str]:
    """Findings that can be chosen: each rule and its fingerprint, once, in order."""
    return list(dict.fromkeys(f"{finding.rule} ({finding.fingerprint})" for finding in findings))
