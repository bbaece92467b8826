"""The rules and versions as the judge looks them up. The data is in ``conformance/``; this only indexes it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Effect, Fate, Rule, StormVersion


class VersionEffect(NamedTuple):
    """The effect on one version: its fate and the text it shows, with its placeholders."""

    fate: Fate
    error: str


HARMLESS = VersionEffect("survives", "")
"""The effect of what a version takes as it was meant, or does not notice."""


class Rulebook:
    """The catalogue that the judge is given: `rules` by id, `versions` oldest first.

    Raises KeyError for an id that is no rule.
    """

    def __init__(self, rules: dict[str, Rule], versions: tuple[StormVersion, ...]) -> None:
        self.rules = rules
        self.versions = versions
        self._effects: dict[tuple[str, str], dict[str, VersionEffect]] = {}

    def effects(self, rule: str, when: str = "") -> dict[str, VersionEffect]:
        """Effects by version of a breach of `rule` in the variant `when`; "unknown" where nothing is given."""
        key = (rule, when)
        if key not in self._effects:
            effects = self.rules[rule].effects
            self._effects[key] = {v.id: _effect_for(effects, when, v.id) for v in self.versions}
        return self._effects[key]

    def version(self, name: str) -> StormVersion:
        """The newest version whose id is `name` or begins with it: "1.2" is 1.2.4; `newest` for "". Raises KeyError."""
        if not name:
            return self.newest
        for version in reversed(self.versions):
            if version.id == name or version.id.startswith(name + "."):
                return version
        raise KeyError(", ".join(v.id for v in self.versions))

    @property
    def newest(self) -> StormVersion:
        """The version that is taken when none is chosen."""
        return next(version for version in reversed(self.versions) if version.verified)


def _effect_for(effects: tuple[Effect, ...], when: str, version: str) -> VersionEffect:
    for wanted in dict.fromkeys((when, "")):
        for effect in effects:
            if effect.when == wanted and covers(effect.versions, version):
                return VersionEffect(effect.fate, effect.error)
    return VersionEffect("unknown", "")


@lru_cache(maxsize=4096)
def covers(versions: str, version: str) -> bool:
    """True if `version` is one of `versions`: a specifier set such as ``>=1.0.3,<2.6``, or ``*``."""
    return versions == "*" or SpecifierSet(versions).contains(version)
