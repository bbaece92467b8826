"""Implementation of ``mlcheck topology plan``: reads the file, and draws what becomes of it as text."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli import topology
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.subject.storms import known_storm
from multilang_cli.terminal.exits import ExitCode
from multilang_cli.terminal.output import remark, stdout_may_close
from multilang_cli.topology import planning
from multilang_cli.topology.console.flux_file import FluxFlags, read_file
from multilang_cli.topology.console.histories import history_in
from multilang_cli.topology.console.settings import topology_settings
from multilang_cli.topology.planning import ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.topology.model import Notice
    from multilang_cli.topology.planning import ComponentPlan, Plan

OURS = Path(topology.__file__).parent
_RUN_TELLS = (
    "whether spouts give message ids, whether bolts anchor what they emit, and whether they settle every tuple: "
    "mlcheck topology run"
)


class PlanFlags(FluxFlags, frozen=True, kw_only=True):
    """Options of ``mlcheck topology plan``. `run`: the folder of a run."""

    storm: str = ""
    run: str | None = None
    as_json: bool = False
    color: str | None = None


def plan_given(flags: PlanFlags) -> int:
    """Show the plan of what the command line names; the exit code. Raises CommandError."""
    settings = topology_settings()
    version = known_storm(flags.storm or settings.storm) or load_rulebook().newest.id
    console = console_of(flags.color)
    read = settings.under(read_file(flags, version))
    made = planning.plan(read.topology, version, history_in(Path(flags.run), f"--run {flags.run}") if flags.run else ())
    if flags.as_json:
        for note in read.notes:
            remark(str(note))
        write_json(planning.to_json(made))
        return ExitCode.CONFORMANT
    with stdout_may_close():
        draw(Page(console), made, read.notes, ran=flags.run is not None)
    return ExitCode.CONFORMANT


def draw(page: Page, plan: Plan, notes: Sequence[Notice], *, ran: bool = False) -> None:
    """The graph with tasks and groupings, then who lives where, then what is not guaranteed.

    `ran`: the history of a run has been looked at.
    """
    page.line(f"{plan.name}, Storm {plan.storm}", "bold")
    page.para(_settings(plan), indent=2)
    for component in plan.components:
        page.blank()
        _component(page, component, plan)
    page.blank()
    for worker in range(plan.workers):
        page.para(_inhabitants(plan, worker), label=f"worker {worker}", hang=10)
    page.blank()
    page.line("Not guaranteed", "bold")
    for risk in plan.risks:
        page.para(f"{risk.about + ': ' if risk.about else ''}{risk.text}", label=risk.id, indent=2, hang=20)
    if not ran:
        page.para(_RUN_TELLS, label="only a run tells", indent=2, hang=20)
    if notes:
        page.blank()
        page.line("What Flux lets pass", "bold")
    for note in notes:
        page.para(str(note), indent=2, hang=4)


def _settings(plan: Plan) -> str:
    count = len(plan.ackers)
    ackers = f"{count} acker{'s' * (count != 1)}{f' ({_tasks(list(plan.ackers))})' if count else ''}"
    timeout = f"{plan.message_timeout:g} s" if plan.message_timeout is not None else "none"
    pending = plan.max_spout_pending or "no limit"
    return (
        f"{plan.workers} worker{'s' * (plan.workers != 1)}, {ackers}, message timeout {timeout}, "
        f"pending for each spout task: {pending}"
    )


def _component(page: Page, component: ComponentPlan, plan: Plan) -> None:
    tasks, executors = list(component.tasks), component.executors
    shared = f" in {executors} executor{'s' * (executors != 1)}" if executors != len(tasks) else ""
    differs = component.kind == "spout" and component.max_spout_pending != plan.max_spout_pending
    own = f", pending for each: {component.max_spout_pending or 'no limit'}" if differs else ""
    what = f"{component.kind}, {_tasks(tasks)}{shared}{own}: {_program(component.command)}"
    page.para(what, label=component.id, hang=2)
    for stream in component.streams:
        page.line(f"{stream.name} ({', '.join(stream.fields)})", indent=2)
        for edge in stream.consumers:
            page.line(f"--{edge.grouping}--> {edge.target} {ranges(edge.tasks) or '(no tasks)'}", indent=4)
        if not stream.consumers:
            page.line("--> nobody", indent=4)


def _program(command: Sequence[str]) -> str:
    """A command; of a program of mlcheck's own its name, for its path is of no use to anybody."""
    program = Path(command[-1])
    return f"mlcheck's own {program.name}" if OURS in program.parents else shlex.join(command)


def _tasks(tasks: Sequence[int]) -> str:
    return f"task{'s' * (len(tasks) > 1)} {ranges(tasks)}" if tasks else "no tasks"


def _inhabitants(plan: Plan, worker: int) -> str:
    homes = {"__acker": plan.ackers, **{each.id: each.tasks for each in plan.components}}
    found = {name: [task for task, home in tasks.items() if home == worker] for name, tasks in homes.items()}
    return ", ".join(f"{name} {ranges(tasks)}" for name, tasks in found.items() if tasks)
