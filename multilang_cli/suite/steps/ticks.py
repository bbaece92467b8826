"""Tick tuples by the clock, as an executor sends them: how often, and what conf says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.words.messages import TICK_FREQUENCY

if TYPE_CHECKING:
    from multilang_cli.subject.options import Component

PLAYED = 1
"""Seconds between two ticks, unless those that are declared are asked for: the shortest interval that Storm has."""


def takes_ticks(component: Component) -> bool:
    """True for a bolt to which its topology sends ticks: one that says so, or whose conf does."""
    declared = component.settles == "on-tick" or "ticks" in component.accepts or declared_ticks(component) > 0
    return component.kind == "bolt" and declared


def declared_ticks(component: Component) -> int:
    """Seconds between two ticks, as the component's own conf has them; 0 if it has none."""
    said = component.conf.get(TICK_FREQUENCY)
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else 0


def with_ticks(component: Component, *, real: bool) -> Component:
    """`component` with the interval of its ticks in its conf; `real`: the one that is declared, if one is."""
    if not takes_ticks(component):
        return component
    seconds = (declared_ticks(component) if real else 0) or PLAYED
    return msgspec.structs.replace(component, conf={**component.conf, TICK_FREQUENCY: seconds})


def told(component: Component, *, real: bool) -> str:
    """One sentence on how ticks are played, "" if there are none."""
    if not takes_ticks(component):
        return ""
    played, declared = with_ticks(component, real=real).conf[TICK_FREQUENCY], declared_ticks(component)
    note = f"ticks were sent every {played} s" if played > 1 else "ticks were sent every second"
    if declared and declared != played:
        return f"{note}, and conf said so ({TICK_FREQUENCY}; {declared} is declared: --real-ticks)"
    return f"{note}, and conf said so ({TICK_FREQUENCY})"
