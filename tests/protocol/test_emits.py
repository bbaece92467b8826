"""What is judged of emits where nobody declared the streams."""

from __future__ import annotations

import msgspec
import pytest

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.judge.conversation import Conversation
from tests import notation


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        ('"stream":""', ["stream-undeclared"]),
        ('"stream":"words"', []),
        ('"stream":null', []),
        ('"need_task_ids":true', []),
    ],
)
def test_an_empty_stream_is_wrong_whatever_is_declared(member: str, expected: list[str]) -> None:
    profile = msgspec.structs.replace(example_profile("bolt"), streams=None, samples=())
    judge = Conversation(profile, load_rulebook())
    events = notation.parse(f'< {{"command":"emit",{member},"tuple":["x",1]}}\n')
    assert [finding.rule for event in events for finding in judge.feed(event)] == expected
