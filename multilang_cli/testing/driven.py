"""A spout or bolt in a test: each call talks to it as Storm does, and gives back what it answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.driver.shell.either import shell_of
from multilang_cli.judging.excerpts import excerpt_of
from multilang_cli.protocol.words.large import plain
from multilang_cli.protocol.words.messages import Ack, Emit, Error, Fail, Json, Log
from multilang_cli.reports.failure import show_excerpt
from multilang_cli.reports.formats.console import as_text
from multilang_cli.reports.formats.trouble import show_story
from multilang_cli.reports.grouping import in_a_sentence
from multilang_cli.reports.model import SubjectResult
from multilang_cli.reports.page import Page
from multilang_cli.subject.options import RunOptions, redactor_of
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.runner.watch import Watch
from multilang_cli.suite.verdict.causes import causes_of
from multilang_cli.terminal.output import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from multilang_cli.causes.model import Cause
    from multilang_cli.driver.session import Session
    from multilang_cli.driver.shell.bolt import ShellBolt
    from multilang_cli.driver.shell.spout import ShellSpout
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.subject.options import Component


_TEST_COLUMNS = 100
"""Width of what a test that fails is told."""


class EmittedTuple(NamedTuple):
    """One tuple that the component emitted. `anchors`: tuple ids (bolts); `id`: the message id (spouts)."""

    values: list[Json]
    stream: str
    anchors: tuple[str, ...]
    task: int | None
    id: Json


class Answer(NamedTuple):
    """The messages of a component from one call to the end of it.

    `id`: of the tuple that was sent, "" for spouts. `acked`, `failed`: ids. `logs`, `errors`: texts.
    """

    id: str
    emits: list[EmittedTuple]
    acked: list[str]
    failed: list[str]
    logs: list[str]
    errors: list[str]

    @property
    def values(self) -> list[list[Json]]:
        """The values of everything it emitted, in order."""
        return [emitted.values for emitted in self.emits]

    @property
    def anchored(self) -> bool:
        """True if it emitted, and every emit is anchored to the tuple that was sent."""
        return bool(self.emits) and all(self.id in emitted.anchors for emitted in self.emits)

    @property
    def done(self) -> bool:
        """True if the tuple that was sent was acked, and not failed."""
        return self.id in self.acked and self.id not in self.failed


class _Replies:
    """Keeps what the component says until it is asked for."""

    def __init__(self) -> None:
        self.said: list[Event] = []

    def take(self, events: Sequence[Event], _: Sequence[Finding]) -> None:
        """Keep what the component says."""
        self.said += [event for event in events if event.channel == "out"]

    def answer(self, id_: str) -> Answer:
        """The messages since the last answer, as the answer to the tuple of this id."""
        bodies = [event.body for event in self.said]
        self.said.clear()
        return Answer(
            id_,
            [EmittedTuple(plain(b.values), b.stream, b.anchors, b.task, b.id) for b in bodies if isinstance(b, Emit)],
            [body.id for body in bodies if isinstance(body, Ack)],
            [body.id for body in bodies if isinstance(body, Fail)],
            [body.msg or "" for body in bodies if isinstance(body, Log)],
            [body.msg or "" for body in bodies if isinstance(body, Error)],
        )


class Driven:
    """A component that runs: the handshake is done. `findings`: what the judge found so far, the oldest first.

    `allowed`: rules whose findings a test takes. `surroundings`: what is other in its environment than here.
    Raises LaunchError if it can't be started.
    """

    def __init__(self, component: Component, storm: str = "") -> None:
        self._subject = subject = Subject.of(
            component, RunOptions(storm=storm), how_to_keep='keep_env=["NAME"] keeps it'
        )
        profile = subject.profile
        self.surroundings = subject.surroundings
        self._over = False
        self._replies = _Replies()
        self._watch = Watch()
        process, judge = subject.start(), judge_of(profile, subject.rulebook)
        self.shell = shell_of(process, judge, (self._replies, self._watch))
        self.session: Session = self.shell.session
        self.session.handshake(subject.handshake(process), profile.limits["pid"])
        self.limits = profile.limits

    @property
    def findings(self) -> list[Finding]:
        """Findings of the judge so far."""
        return self.session.findings

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Causes of the findings so far, the one that tells most first."""
        return causes_of(self._subject, self.session, self._watch, self.findings) if self.findings else ()

    def story(self, levels: Collection[str], allowed: Collection[str] = ()) -> str:
        """The findings of these levels, but for rules that are allowed, as a reader is told them; "" if there is none.

        The cause comes first, with the messages that led to it, then a line for each finding, then stderr. Nothing in
        it is a secret of the component's, moves the cursor, or is a command to a CI's runner.
        """
        wrong = [each for each in self.findings if each.level in levels and each.rule not in allowed]
        if not wrong:
            return ""
        causes = self.causes
        about = causes[0].seq if causes else None
        secrets = redactor_of(self._subject.component)
        excerpt = excerpt_of(wrong, self._watch.events, secrets, about)
        subject = SubjectResult(id="", title="", verdict="fail", findings=tuple(wrong), excerpt=excerpt, causes=causes)
        lines = [in_a_sentence(cause) for cause in causes[:1]]
        lines += (
            as_text(lambda console: _show_messages(Page(console), subject), _TEST_COLUMNS).rstrip("\n").splitlines()
        )
        lines += [f"{each.rule}: {each.message} (event {each.seq}; mlcheck explain {each.rule})" for each in wrong]
        lines += [f"stderr: {self.stderr}"] if self.stderr else []
        return visible(secrets.line("\n".join(lines)))

    @property
    def stderr(self) -> str:
        """The last that it wrote to stderr."""
        return self.session.process.stderr_tail.decode("utf-8", "backslashreplace")

    def end(self) -> None:
        """End the component, once it waits for us: what it says behind its last answer is judged as well.

        Nothing is done the second time.
        """
        if self._over:
            return
        self._over = True
        self.session.wait_quiet(self.limits["output"])
        self.session.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _show_messages(page: Page, subject: SubjectResult) -> None:
    if subject.causes:
        show_story(page, subject, subject.causes[0])
    else:
        show_excerpt(page, subject.excerpt)


def _checked(values: Any) -> list[Json]:
    """The values of a tuple, as Storm could send them. Raises TypeError and ValueError: no component is to blame."""
    if not isinstance(values, list | tuple):
        raise TypeError(f'the values of a tuple are a list, such as ["word", 1]; this is {values!r}')
    try:
        json.dumps(values, allow_nan=False)
    except ValueError:
        raise ValueError(f"Storm sends neither NaN nor an infinity, but null (None): {values!r}") from None
    return list(values)


class DrivenBolt(Driven):
    """A bolt that runs."""

    shell: ShellBolt

    def send(
        self, values: list[Json], comp: str | None = None, stream: str | None = None, task: int | None = None
    ) -> Answer:
        """Send a tuple, wait until it is settled, and give back what was said meanwhile.

        `comp`: None for its first source, called "source" if none was told; `stream`: None for the usual one.
        """
        id_ = self.shell.send(_checked(values), comp, stream, task)
        self.shell.settle_all(self.limits["settle"])
        return self._replies.answer(id_)

    def send_all(self, tuples: Sequence[list[Json]]) -> Answer:
        """Send several tuples at once and wait until all are settled. The answer's `id` is that of the last."""
        ids = [self.shell.send(each) for each in list(map(_checked, tuples))]
        self.shell.settle_all(self.limits["settle"])
        return self._replies.answer(ids[-1] if ids else "")

    def tick(self, seconds: int = 1) -> Answer:
        """Send a tick tuple and wait until everything is settled."""
        id_ = self.shell.tick(seconds)
        self.shell.settle_all(self.limits["settle"])
        return self._replies.answer(id_)

    def hold(
        self, values: list[Json], comp: str | None = None, stream: str | None = None, task: int | None = None
    ) -> str:
        """Send a tuple and do not wait: for joins and batches. Returns its id."""
        return self.shell.send(_checked(values), comp, stream, task)

    def heartbeat(self) -> bool:
        """Send a heartbeat and wait for its sync; False, with a finding, if it does not come."""
        return self.shell.beat(self.limits["heartbeat"])


class DrivenSpout(Driven):
    """A spout that runs, and is activated where this Storm does so."""

    shell: ShellSpout

    def __init__(self, component: Component, storm: str = "") -> None:
        super().__init__(component, storm)
        self._call("activate")
        self._replies.said.clear()

    def next(self) -> Answer:
        """Ask for the next tuple, and give back what was said before the sync."""
        return self._call("next")

    def ack(self, id_: Json) -> Answer:
        """Say that a tuple is done."""
        return self._call("ack", id_)

    def fail(self, id_: Json) -> Answer:
        """Say that a tuple failed."""
        return self._call("fail", id_)

    def activate(self) -> Answer:
        """Activate it."""
        return self._call("activate")

    def deactivate(self) -> Answer:
        """Deactivate it."""
        return self._call("deactivate")

    def _call(self, command: str, id_: Any = "") -> Answer:
        self.shell.call(command, id_, self.limits["sync"])
        return self._replies.answer("")
