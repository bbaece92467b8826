"""Rules of an emit without a tuple. Storm's parser lets it pass, so anchors, stream and task come first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.judge import emit_rules
from multilang_cli.protocol.judge.bolt_rules import check_anchors
from multilang_cli.protocol.storm.taking import emit_of
from multilang_cli.protocol.words.messages import DEFAULT_STREAM, Emit

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.words.events import Event


def read_without(judge: RuleContext, event: Event, fields: dict[str, Any]) -> None:
    """Judge an emit whose tuple is lost in the eyes of this Storm, though its frame says something else."""
    check_rest(judge, event, fields)
    text = "an emit without a tuple, as Storm reads it"
    judge.breach("tuple-missing", event, text, when=variant(judge, fields), stable="read")


def check_rest(judge: RuleContext, event: Event, fields: dict[str, Any]) -> None:
    """Judge what Storm looks at before it misses the tuple."""
    emit = emit_of(fields)
    if judge.profile.kind == "bolt":
        check_anchors(judge, event, emit.anchors)
    emit_rules.check(judge, event, emit, without_tuple=True)


def variant(judge: RuleContext, fields: dict[str, Any]) -> str:
    """The variant of the rule: how far the tuple that is none would have come."""
    stream = fields.get("stream")
    emit = Emit([], DEFAULT_STREAM if stream is None else str(stream), fields.get("task") or None)
    spec = (judge.streams or {}).get(emit.stream) or emit_rules.own_spec(judge, emit.stream)
    if emit_rules.is_for_no_acker(judge, emit):
        return "no-ackers"
    if spec is None:
        return "undeclared" if judge.streams is not None else ""
    if not emit_rules.travels(judge, emit, spec):
        return "unconsumed"
    if not emit.task and any(grouping.get("fields") for grouping in spec.groupings.values()):
        return "grouping"
    if not judge.profile.local:
        return ""
    return "local" if judge.profile.kind == "bolt" else "local-spout"
