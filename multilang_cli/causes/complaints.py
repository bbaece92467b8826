"""Words of a component on what goes wrong: its logs, its errors, its stderr, and what it failed for them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from multilang_cli.causes.swallowing import MOST_FOLLOWED
from multilang_cli.protocol.words.messages import Ack, Emit, Error, Fail, Log, Pid, Sync
from multilang_cli.protocol.words.shortening import ends

if TYPE_CHECKING:
    from multilang_cli.causes.unanswered import Unanswered

MOST_REPORTED = 8000
"""Characters kept of an error that was reported."""
_WARN = 3
"""The level of a log that warns."""
_WRONG = re.compile(
    r"error|exception|fail|invalid|traceback|unable|can(?:no|')t|could ?n[o']t|missing|unexpected|undefined|unknown"
    r"|wrong|skip|dropp|ignor|discard|refus|reject|no such|not (?:a|an|found|valid)\b|deadline exceeded|timed out",
    re.IGNORECASE,
)


def _complains(message: Log | Error) -> bool:
    """True for an error, a warning, and a line that says that something is wrong."""
    return isinstance(message, Error) or (message.level or 0) >= _WARN or tells_of_trouble(message.msg or "")


def tells_of_trouble(text: str) -> bool:
    """True if a line says that something is wrong."""
    return _WRONG.search(text) is not None


class Complaints:
    """Complaints so far. `words`: the last that it said, if that is a log or an error.

    `reported`: the last error that it told Storm of, if it failed what it worked on, or answered no more; `gave_up`: it
    failed that for it. `failed_at`, `failed_for`: the first tuple that it failed, by its event, and what it had told of
    it, `failed_last`: it settled no other behind that; `failed_err`: its stderr since it was fed last. `again_at`,
    `again_for`: the first fail of a tuple that it had failed already, and the error that it told between the two.
    `muttered`: what it wrote to stderr since it was fed last, and settled anything.
    """

    def __init__(self, unanswered: Unanswered) -> None:
        self._unanswered = unanswered
        self.words = self.reported = self.muttered = ""
        self.gave_up = self.failed_last = self._complained = self._talked = False
        self.failed_at: int | None = None
        self.failed_for = self.failed_err = self._err = ""
        self.again_at: int | None = None
        self.again_for = self._since = ""
        self._failed: set[str] = set()
        self._last = ""
        self._passed: dict[str, str] = {}

    @property
    def trouble(self) -> str:
        """The error that it reported, else the last that it said while a tuple was open."""
        return self.reported or self._last

    @property
    def of_a_tuple(self) -> str:
        """The words that it logged of a tuple which it never settled, "" for none.

        The last while a tuple was open: if that says that something is wrong, or is not the first that it said.
        """
        return self._last if self._last and self._complained else next(iter(self._passed.values()), "")

    def fed(self) -> None:
        """Take a tuple that was sent to it."""
        self._err = ""

    def wrote(self, text: str, *, dismissed: bool) -> None:
        """Take a piece of stderr."""
        if self.failed_at is None:
            self._err = (self._err + text)[-MOST_REPORTED:]
        if not dismissed and self._unanswered.first_tuple is not None:
            self.muttered = (self.muttered + text)[-MOST_REPORTED:]

    def said(self, message: object) -> None:
        """Take a message of its own, before what that answers."""
        # What was logged long before the end has nothing to do with it.
        self.words = ends(message.msg or "", MOST_REPORTED) if isinstance(message, Log | Error) else ""
        if isinstance(message, Ack | Fail):
            self._passed_over(message.id)
            self._last = self.muttered = ""
            self.failed_last = self.failed_last and isinstance(message, Fail)
        elif isinstance(message, Log | Error) and self._unanswered.first_tuple is not None:
            # The first that it says behind its pid may be of its start.
            self._complained = self._talked or _complains(message)
            self._last = ends(message.msg or "", MOST_REPORTED)
        self._talked = self._talked or not isinstance(message, Pid)
        if isinstance(message, Error):
            self._since = self.reported = ends(message.msg or "", MOST_REPORTED)
            self.gave_up = False
        elif isinstance(message, Fail):
            self.gave_up = bool(self.reported)
        elif isinstance(message, Emit | Ack) or (isinstance(message, Sync) and self.gave_up):
            self.reported, self.gave_up = "", False

    def failed(self, seq: int, id_: str, trouble: str) -> None:
        """Take a fail of a tuple, and what it had told before that."""
        self.failed_last = self.failed_at is None
        if self.failed_last:
            self.failed_at, self.failed_for, self.failed_err = seq, trouble, self._err
        if id_ in self._failed and self.again_at is None:
            self.again_at, self.again_for = seq, self._since
        if len(self._failed) < MOST_FOLLOWED:
            self._failed.add(id_)
        self._since = ""

    def _passed_over(self, settled: str) -> None:
        """Keep what it logged last for the tuple that is passed over as a later one is settled."""
        self._passed.pop(settled, None)
        if not self._last:
            return
        first, is_open = self._unanswered.first_tuple, settled in self._unanswered.open_ones
        later = first is not None and first != settled and is_open and len(self._passed) < MOST_FOLLOWED
        if first is not None and later and tells_of_trouble(self._last):
            self._passed[first] = self._last
