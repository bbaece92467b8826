"""Is it a bolt or a spout? Asked of the component itself, in fresh processes; what it answers is not judged.

Only bolts ack, fail and anchor; only spouts answer `next` with a sync, or emit for it. One that dies or hangs before
it was asked anything of a role is at fault whatever it is, and so is one that dies of a heartbeat and leaves `next`
without an answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from multilang_cli.subject.declared import Probe
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.probing.asking import asked
from multilang_cli.suite.probing.questions import activated_next, ask_next, beat, beat_again, feed, feed_and_beat

if TYPE_CHECKING:
    from multilang_cli.subject.options import Component, RunOptions
    from multilang_cli.suite.probing.asking import Met, ProbeAnswer
    from multilang_cli.suite.probing.replies import Replies

_SPOUT = "it answers `next` with a sync: a spout"
_BOLT = "it answers a heartbeat with a sync, and no `next`: a bolt"
_OF_A_COMMAND = re.compile(r"['\"`]command['\"`]|\.command\b")
_OF_A_TUPLE = re.compile(r"['\"`](?:id|tuple|stream|comp|task)['\"`]|\.(?:tuple|comp)\b")
"""Fields of a message by name, as exceptions quote them."""
_SAY = "say --kind bolt or --kind spout"


def kind_of(component: Component, options: RunOptions) -> Probe:
    """Ask it as a bolt (a heartbeat, a tuple) and as a spout (a `next`). Raises LaunchError if it can't be started."""
    checked = Subject.of(component, options)
    as_bolt = asked(checked, "bolt", beat if checked.version.heartbeats else feed)
    as_spout = as_bolt if as_bolt.silent else asked(checked, "spout", ask_next)
    if as_spout.silent:
        return Probe(None, f"it did not answer the handshake{as_spout.end}", silent=True, met=as_spout.met)
    if as_bolt.fault and as_spout.fault:
        return Probe(None, f"{as_bolt.fault}{as_bolt.end}", fault=True, met=as_bolt.met)
    if as_bolt.replies.acts_as_a_bolt:
        return Probe("bolt", f"it {_action_of(as_bolt.replies)} a tuple: a bolt")
    if as_spout.misread:
        return Probe("bolt", "it takes `next` for a tuple, and ends: a bolt")
    if as_spout.answered and not as_bolt.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.answered and not as_spout.answered and as_spout.sure and not _may_know_next(as_spout):
        return Probe("bolt", _BOLT)
    question = feed_and_beat if as_bolt.answered else feed
    fed = asked(checked, "bolt", question) if checked.version.heartbeats else as_bolt
    return _by_a_tuple(fed, as_bolt, as_spout) or _by_waiting(checked, fed, as_bolt, as_spout)


def _by_a_tuple(fed: ProbeAnswer, as_bolt: ProbeAnswer, as_spout: ProbeAnswer) -> Probe | None:
    """Some spouts answer all that they do not know with a sync, some bolts say it by themselves; only bolts settle."""
    if fed.replies.acts_as_a_bolt:
        return Probe("bolt", f"it {_action_of(fed.replies)} a tuple: a bolt")
    if as_bolt.answered and fed.replies.said["sync"] >= fed.replies.told:
        return Probe(None, f"it says sync without being asked, so it can't be told: {_SAY}")
    if as_spout.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.answered and fed.replies.said["sync"] == fed.replies.tuples and _may_know_next(as_spout):
        return Probe("spout", "it answers a tuple with a sync too, as Storm's own spouts in Ruby do: a spout")
    if fed.replies.said["emit"] and not as_spout.replies.said["emit"]:
        return Probe("bolt", "it emits in answer to a tuple, and not to `next`: a bolt")
    if fed.replies.repeats:
        return Probe("bolt", "it says again what a tuple told it: a bolt")
    return None


def _may_know_next(as_spout: ProbeAnswer) -> bool:
    """True if a `next` that it does not answer may have led it into code of its own: a bolt does little about it."""
    if as_spout.died:
        return not any(_OF_A_TUPLE.search(each.reason) for each in as_spout.met)
    return as_spout.elsewhere or bool(as_spout.replies.said["emit"])


def _by_waiting(checked: Subject, fed: ProbeAnswer, as_bolt: ProbeAnswer, as_spout: ProbeAnswer) -> Probe:
    """A slow spout is given its whole limit, once all else is tried."""
    if not as_spout.sure:
        as_spout = asked(checked, "spout", ask_next, patient=True)
    if as_spout.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.answered:
        return Probe("bolt", _BOLT)
    if as_spout.replies.said["emit"] and not fed.replies.said["emit"]:
        return Probe("spout", "it emits in answer to `next`, and not to a tuple: a spout, although no sync came")
    if as_spout.fault:
        return Probe(None, f"{as_spout.fault}{as_spout.end}", fault=True, met=as_spout.met)
    activated = asked(checked, "spout", activated_next, patient=True)
    if activated.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.died and _knows_activate(activated) and not as_bolt.replies.said["sync"]:
        return Probe("spout", "it answers `activate` with a sync, and no `next`: a spout")
    if checked.version.heartbeats and as_bolt.died:
        action = f"dies of `next`{activated.end}" if activated.died else "does not answer `next`"
        how = f"as a bolt it dies of a heartbeat{as_bolt.end}; as a spout it {action}"
        met = _of_its_role(as_bolt.met, activated.met)
        return Probe(None, f"{how} ({_SAY} to have the rest tested)", fault=True, met=met)
    return _undecided(checked, fed, as_bolt, as_spout)


def _undecided(checked: Subject, fed: ProbeAnswer, as_bolt: ProbeAnswer, as_spout: ProbeAnswer) -> Probe:
    """Ask once more by a second heartbeat, or say what was seen."""
    if checked.version.heartbeats and asked(checked, "bolt", beat_again).answered:
        return Probe("bolt", "it answers a heartbeat, if not the first: a bolt")
    unsure = _unsure(checked, fed, as_bolt, as_spout)
    if alike := _alike(as_bolt.met, as_spout.met):
        return Probe(None, unsure, fault=True, met=alike)
    if fed.replies.irregular and any(each.level == "must" for met in fed.met for each in met.findings):
        # What is no message is none of a bolt, nor of a spout.
        return Probe(None, unsure, fault=True, met=fed.met)
    return Probe(None, unsure, met=(*as_bolt.met, *as_spout.met))


def _alike(as_bolt: Met, as_spout: Met) -> Met:
    """Keep what went wrong in both roles for the same cause: that is its fault, whichever it is."""
    causes = {cause.id for each in as_spout for cause in each.causes}
    return tuple(each for each in as_bolt if any(cause.id in causes for cause in each.causes))


def _knows_activate(activated: ProbeAnswer) -> bool:
    """True if it answered `activate` and lived on: a sync beside an error told to Storm answers nothing."""
    return bool(activated.replies.said["sync"]) and not activated.replies.complaint


def _of_its_role(as_bolt: Met, as_spout: Met) -> Met:
    """Keep what was met in the role that is its own, as its exceptions tell it; in both where they do not.

    One that looks for a command in a heartbeat is a spout, one that looks for the parts of a tuple in a `next` a bolt.
    """
    if any(_OF_A_COMMAND.search(each.reason) for each in as_bolt):
        return as_spout
    if any(_OF_A_TUPLE.search(each.reason) for each in as_spout):
        return as_bolt
    return (*as_bolt, *as_spout)


def _action_of(replies: Replies) -> str:
    return "settles" if replies.settles else "anchors an emit to"


def _unsure(checked: Subject, fed: ProbeAnswer, as_bolt: ProbeAnswer, as_spout: ProbeAnswer) -> str:
    """A sentence on what was seen, for people who have to say it themselves."""
    beats = checked.version.heartbeats
    asked = "a heartbeat nor a tuple nor `next`" if beats else "a tuple nor `next`"
    seen = [("to a heartbeat", as_bolt)] if beats else []
    seen += [("to a tuple", fed), ("to `next`", as_spout)]
    told = "; ".join(f"{to} it said {each.replies}{each.end}" for to, each in seen)
    more = "" if checked.component.samples else ", or give a tuple that it takes (--tuple JSON)"
    return f"it answers neither {asked}: {told}: {_SAY}{more}"
