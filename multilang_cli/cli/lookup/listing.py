"""``mlcheck list rules|cases|host-cases|protocol|versions|--kills``: a line each, its fields parted by spaces."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON
from multilang_cli.cli.options.table import OptionTable, flag

OPTIONS: OptionTable = {"as_json": JSON}
PROTOCOL: OptionTable = {
    "untested": flag("--untested", "Only those that no rule judges and no case tries, each with the reason."),
    **OPTIONS,
}
KILLS: OptionTable = {
    "whole": flag("--whole", "Everything that the soak saw, not only what is claimed."),
    **OPTIONS,
}


@handled_by("lookup.listing:rules_given", options=OPTIONS)
def rules() -> None:
    """List what the protocol asks and what real Storm punishes: id, level, kind, title."""


@handled_by("lookup.listing:protocol_given", options=PROTOCOL)
def protocol() -> None:
    """List the sentences of the written protocol: id, section, level, whom it binds, text.

    `mlcheck explain ID` tells the rules, the cases and the sources of one.
    """


@handled_by("lookup.listing:cases_given", options=OPTIONS)
def cases() -> None:
    """List the cases that `mlcheck run` plays, those of the library suite too: id, level, kind, title.

    The kind is bolt, spout or both; for a library's testee (--testee) it is basic where the library acks by itself.
    """


@handled_by("lookup.listing:host_cases_given", options=OPTIONS)
def host_cases() -> None:
    """List the cases that `mlcheck host` plays: id, level, kind of the component, title."""


@handled_by("lookup.listing:kills_given", options=KILLS)
def kills() -> None:
    """List which mutants each case kills: case, testee, mutant, rules, and whether it is claimed or on which day seen.

    A mutant is a component with one planted bug. What its author claims is played in CI; every mutant was played
    against every case in a soak, whose result is stored. Where nothing is claimed of a case, what was seen is shown.
    """


@handled_by("lookup.listing:versions_given", options=OPTIONS)
def versions() -> None:
    """List the Storm versions that can be played, and whether they were verified with the real classes."""
