"""Messages in a few words, as a line of a screen shows them. Pure.

What happened to the process stands in a report as text, so what is written of it here is read here again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.clauses import SEPARATOR
from multilang_cli.protocol.words.events import Deadline, End, Exited, PidChecked, Signalled, Started, StdinClosed
from multilang_cli.protocol.words.waits import FACTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.causes.model import Cause
    from multilang_cli.reports.model import ExcerptLine, SubjectResult

_ENDS = "the conversation ends here"
_USUAL = (*(f"{fact.__name__}(" for fact in (Started, PidChecked, StdinClosed, Signalled)), _ENDS)
_FACTS = f"{SEPARATOR}{FACTS}"
_LEFT_BEHIND = f"{SEPARATOR}but "
_SAME_WORDS = 60
"""Characters by which an exception is known in a text that may be cut."""
_NOTHING = "(an empty line, and `end`)"
"""What a message without anything in it is shown as."""
_CHANNELS = {"process": "end", "control": "wait"}
_GRAVITY = {"must": 0, "should": 1, "note": 2}


def channel_of(row: ExcerptLine) -> str:
    """The word in front of a line: in, out, err, or what happened to the process."""
    return _CHANNELS.get(row.channel, row.channel)


def text_of_fact(fact: Any, most: int) -> str:
    """The text of what happened to the process, or was waited for in vain. What has none of its own takes `most`."""
    if isinstance(fact, Deadline):
        awaited = "no sync" if fact.waiting_for == "sync" else "nothing"
        silence = "it will say nothing more" if fact.proven else f"{awaited} for {fact.limit:g} s"
        return f"{silence}{SEPARATOR}{fact.facts}" if fact.facts else silence
    if isinstance(fact, End):
        return f"{_ENDS}: {fact.why}" if fact.why else _ENDS
    if isinstance(fact, Exited):
        return _LEFT_BEHIND.join([fact.how, *fact.holders])
    fields = ", ".join(f"{name}={getattr(fact, name)!r}" for name in fact.__struct_fields__)
    return f"{type(fact).__name__}({fields})"[:most]


def leading_to(cause: Cause, subject: SubjectResult) -> tuple[ExcerptLine, ...]:
    """The rows up to the finding that a cause is told of: a recording's excerpt has those around each finding.

    What Storm does is told of that finding, so what came behind it would be of another message than its words.
    """
    marks = {row.seq for row in subject.excerpt if row.mark}
    told = min(
        (finding for finding in subject.findings if finding.seq in marks),
        key=lambda each: (each.seq != cause.seq, each.rule not in cause.rules, _GRAVITY[each.level], each.seq),
        default=None,
    )
    return tuple(row for row in subject.excerpt if told is None or row.seq <= told.seq)


def telling(rows: Iterable[ExcerptLine], cause: Cause, most: int) -> list[ExcerptLine]:
    """The rows that tell something: without what every process does, and of stderr the last that holds the exception.

    Where there are more than `most`, the first and the last: it began with the one, and ended with the others. Of what
    Storm said, the last is among them, for that is what was answered, or was not.
    """
    kept = [row for row in rows if row.mark or not row.text.startswith(_USUAL)]
    if cause.last:
        # What it wrote before has nothing to do with an exception that it told Storm of.
        errs = [row for row in kept if row.channel == "err" and _has_exception(row.text, cause)]
        kept = [row for row in kept if row.channel != "err" or row in errs[-1:]]
    if len(kept) <= most:
        return kept
    latest = kept[len(kept) - most + 1 :]
    asked = [row for row in kept if row.channel == "in" and row not in latest]
    first = kept[0] if not asked or any(row.channel == "in" for row in latest) else asked[-1]
    return [first, *latest]


def _has_exception(text: str, cause: Cause) -> bool:
    """True if the exception of a cause begins or ends in a text of stderr, which may be cut."""
    return any(words and words[:_SAME_WORDS] in text for words in (cause.first, cause.last))


def in_short(row: ExcerptLine, cause: Cause) -> str:
    """Describe an event of an excerpt on one line: the kind of message and what it carries."""
    if row.channel == "err":
        return _of_stderr(row.text, cause)
    if row.channel not in {"in", "out"}:
        told, *left_behind = row.text.partition(_FACTS)[0].split(_LEFT_BEHIND, maxsplit=1)
        if row.mark and row.channel == "process" and row.note:
            told = row.note.replace("the process exited with code", "exit code", 1)
        return _LEFT_BEHIND.join([told, *left_behind])
    try:
        message = json.loads(row.text)
    except (ValueError, RecursionError):
        return row.text if row.text.strip() else _NOTHING
    if isinstance(message, list):
        return f"task ids  {_json(message)}" if row.channel == "in" else row.text
    of_anchors = any(rule.startswith("anchor") for rule in cause.rules)
    return _of_message(message, anchors_first=of_anchors) if isinstance(message, dict) else row.text


def _of_stderr(text: str, cause: Cause) -> str:
    if cause.last:
        begin = cause.first.partition("(")[0].strip().rstrip(":")
        return cause.last if cause.last in cause.first else f"{begin}: ... {cause.last}"
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def _of_message(message: dict[str, Any], *, anchors_first: bool) -> str:
    command = message.get("command")
    if command is None and "tuple" in message:
        if message.get("stream") == "__heartbeat":
            return "heartbeat"
        if message.get("stream") == "__tick":
            return f"tick   {_json(message['tuple'])}"
        identity = f"  {_json(message['id'])}" if "id" in message else ""
        return f"tuple  {_json(message['tuple'])}{identity}"
    if not isinstance(command, str):
        return _json(message)
    if command == "emit" and "tuple" in message:
        given = [
            f"  {name} {_json(message[name])}" for name in ("id", "anchors") if message.get(name) not in (None, [])
        ]
        stream = message.get("stream")
        on = f"on {_json(stream)}  " if stream not in (None, "", "default") else ""
        values = _json(message["tuple"])
        if anchors_first and given:
            # The end of a row is cut.
            return f"emit  {on}{''.join(reversed(given)).strip()}  {values}"
        return f"emit  {on}{values}{''.join(given)}"
    for key in ("tuple", "msg", "id", "name"):
        if message.get(key) not in {None, ""} if isinstance(message.get(key), str) else key in message:
            return f"{command}  {_json(message[key])}"
    return command


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
