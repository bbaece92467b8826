"""``mlcheck run --dry-run``: what would be started and played. Nothing is started, not even to ask what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.reports.page import Page
from multilang_cli.subject.samples import has_samples, samples_of, sources_of
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.cases.selection import fitting, select
from multilang_cli.terminal.output import stdout_may_close

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from multilang_cli.subject.declared import Declared
    from multilang_cli.subject.options import Component, RunOptions
    from multilang_cli.suite.cases.case import Case

ACKS = "what a spout emits is acked and failed, real messages too"
"""What the suite does to a spout, for a user who may point it at a queue in use."""


class DryRun(NamedTuple):
    """The plan of a component's runs. `starts`: how often it would be started; `reads`: what a bolt is fed from.

    `component` is its name, `why` its command was made so, `notes` what is taken from its environment; `cases` are ids
    with their titles.
    """

    component: str
    command: tuple[str, ...]
    why: str
    starts: str
    reads: list[str]
    notes: tuple[str, ...]
    cases: dict[str, str]


def dry_run_of(versions: Sequence[Declared]) -> DryRun:
    """The plan of a component's runs, one for each of `versions`.

    Raises LaunchError if it can't be started, SelectionError.
    """
    component, options = versions[-1].component, versions[-1].options
    subject = Subject.of(component, options)
    cases = select(load_cases("component", options.suites), component.kind, options.include, options.exclude)
    return DryRun(
        component.name,
        tuple(subject.launch.argv),
        subject.launch.why,
        starts(component, [each.options for each in versions], cases),
        read_from(component),
        tuple(subject.surroundings),
        {case.id: case.title for case in cases},
    )


def show_plan(plan: DryRun, console: Console) -> None:
    """Show what the runs of a component would do."""
    page = Page(console)
    with stdout_may_close():
        lead = f"{plan.component}: " if plan.component else ""
        page.line(f"{lead}{' '.join(plan.command)}" + (f"  ({plan.why})" if plan.why else ""))
        for sentence in (plan.starts, *plan.reads, *plan.notes):
            page.para(sentence, indent=2)
        wide = max(map(len, plan.cases))
        for id_, title in plan.cases.items():
            page.para(title, label=f"{id_:{wide}}", label_style="", indent=2, hang=wide + 4)


def read_from(component: Component) -> list[str]:
    """A line for each stream that a bolt is fed from, with its fields and how many samples; none for a spout."""
    if component.kind == "spout" or not component.sources:
        return []
    samples = samples_of(component)
    lines = []
    for each in sources_of(component):
        count = sum((sample.component, sample.stream) == (each.component, each.stream) for sample in samples)
        what = f"{count} sample{'' if count == 1 else 's'}" if has_samples(component) else "a tuple made up for it"
        lines.append(f"It reads from {each.component}, stream {each.stream} ({', '.join(each.fields or ())}): {what}.")
    return lines


def starts(component: Component, versions: Sequence[RunOptions], cases: list[Case]) -> str:
    """A sentence on how often the component would be started."""
    options = versions[-1]
    if component.kind == "auto":
        counts = " or ".join(f"{len(fitting(cases, kind))} as a {kind}" for kind in ("bolt", "spout"))
        how = f"twice to ask whether it is a bolt or a spout, then once for each case, {counts}: both are listed"
    else:
        how = f"once for each case of a {component.kind}, {len(cases)} in all"
    at_once = f"{options.jobs} at once" if options.jobs > 1 else "one after another"
    if len(versions) > 1:
        how += f", and that for each of {len(versions)} Storm versions: {', '.join(each.storm for each in versions)}"
    careful = "" if component.kind == "bolt" else f" {ACKS.capitalize()}."
    return f"Nothing was started. A run starts it {how}; {at_once}.{careful}"
