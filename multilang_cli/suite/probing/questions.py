"""Questions to a component whose kind is not known: each gives back what tells whether it is answered."""

from __future__ import annotations

import json
from itertools import cycle, islice
from typing import TYPE_CHECKING

from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.protocol.words.verdicts import together
from multilang_cli.subject.samples import samples_of
from multilang_cli.suite.steps.ticks import PLAYED, declared_ticks

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.driver.shell.either import Shell
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.probing.replies import Replies

    Question = Callable[[Subject, Shell, Replies], Callable[[], bool]]
    """Asks a session something, and gives back what tells whether it is answered."""

_FILL_A_BUFFER = 400
"""Heartbeats whose syncs take more than 8 KiB."""
_TUPLES = 10
"""Samples that are fed at most where no number is declared."""
_USUAL_LETTERS = 3
"""Letters of a text that anybody may say."""


def beat(_: Subject, shell: Shell, __: Replies) -> Callable[[], bool]:
    """Send a heartbeat, which a bolt answers with a sync."""
    assert isinstance(shell, ShellBolt)  # noqa: S101 (what a bolt is started with)
    bolt = shell
    bolt.heartbeat()
    return lambda: bolt.syncs > 0


def beat_again(checked: Subject, shell: Shell, replies: Replies) -> Callable[[], bool]:
    """A heartbeat, and a second later the next, as Storm does: it may lose the first, and answers that.

    Then many at once: their answers fill a buffer that is flushed only when it is full, or each so many messages.
    """
    answered = beat(checked, shell, replies)
    shell.session.wait(answered, 1.0, "output")
    beat(checked, shell, replies)
    shell.session.wait(answered, 1.0, "output")
    for _ in range(0 if answered() else _FILL_A_BUFFER):
        beat(checked, shell, replies)
    return answered


def feed(checked: Subject, shell: Shell, replies: Replies) -> Callable[[], bool]:
    """Feed what is declared, or one tuple of our making, and a tick where it is to settle them by that."""
    assert isinstance(shell, ShellBolt)  # noqa: S101 (what a bolt is started with)
    samples = samples_of(checked.component)
    settles = checked.component.settles
    many = together(settles) if settles.startswith("after-") else min(len(samples), _TUPLES)
    texts = {
        value for sample in samples for value in sample.values if isinstance(value, str) and len(value) > _USUAL_LETTERS
    }
    replies.values = tuple(json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in texts)
    for sample in islice(cycle(samples), many):
        shell.send(sample.values, sample.component, sample.stream)
    period = declared_ticks(checked.component)
    if period or settles == "on-tick":
        shell.tick(period or PLAYED)
    return lambda: replies.acts_as_a_bolt


def feed_and_beat(checked: Subject, shell: Shell, replies: Replies) -> Callable[[], bool]:
    """Feed a component that answers heartbeats: what it holds back of a tuple comes with that."""
    done = feed(checked, shell, replies)
    beat(checked, shell, replies)
    return done


def ask_next(_: Subject, shell: Shell, __: Replies) -> Callable[[], bool]:
    """Ask it for a tuple, as a spout is."""
    assert isinstance(shell, ShellSpout)  # noqa: S101 (what a spout is started with)
    spout = shell
    # A bolt may send a sync that nobody asked for.
    spout.forget_syncs()
    spout.ask("next")
    return lambda: spout.answered


def activated_next(checked: Subject, shell: Shell, replies: Replies) -> Callable[[], bool]:
    """Ask for a tuple as Storm does: a spout that opens its source on `activate` can't answer a `next` before."""
    assert isinstance(shell, ShellSpout)  # noqa: S101 (what a spout is started with)
    if checked.version.activate:
        shell.call("activate", limit=shell.profile.limits["sync"])
    return ask_next(checked, shell, replies) if shell.session.running else lambda: False
