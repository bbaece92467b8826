"""The file that MLCHECK_FEED names: what a host is told, as it is published in ``schemas/feed.schema.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.texts import TextError, file_bytes
from multilang_cli.protocol.wire.context import topology_of
from multilang_cli.protocol.words.feeds import FedCall, FedTuple, Feed
from multilang_cli.protocol.words.verdicts import Kind, Profile, SourceSpec, StreamSpec

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "MLCHECK_FEED"
"""The variable of the environment that names the file."""
VERSION = "1.0"


class FeedError(ValueError):
    """A file that tells a host nothing: the message says why."""


class _Topology(msgspec.Struct, frozen=True, omit_defaults=True):
    tasks: dict[int, str]
    streams: dict[str, StreamSpec]
    sources: dict[str, dict[str, SourceSpec]] = {}


class _File(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Contents of the file. `version`: major.minor of its format. `task`: that of the component."""

    version: str
    case: str
    kind: Kind
    storm: str
    component: str
    task: int
    topology: _Topology
    conf: dict[str, Any] = {}
    tuples: tuple[FedTuple, ...] = ()
    calls: tuple[FedCall, ...] = ()


def written(case: str, profile: Profile) -> bytes:
    """The file for a host that is judged by `profile`."""
    whole, feed = topology_of(profile), profile.feed or Feed()
    streams, topology = whole.streams or {}, _Topology
    return msgspec.json.format(
        msgspec.json.encode(
            _File(
                version=VERSION,
                case=case,
                kind=profile.kind,
                storm=profile.storm,
                component=profile.component,
                task=profile.task,
                topology=topology(whole.tasks, streams, whole.sources),
                conf=profile.conf,
                tuples=feed.tuples,
                calls=feed.calls,
            )
        )
    )


def read(path: Path) -> Profile:
    """Read the feed file at `path`. Raises FeedError."""
    try:
        data = file_bytes(path)
        file = msgspec.json.decode(data, type=_File)
    except OSError as error:
        raise FeedError(f"{path}: {error.strerror}") from None
    except msgspec.ValidationError as error:
        raise FeedError(f"{path}: {_refused(data, error)}") from None
    except RecursionError:
        raise FeedError(f"{path}: no JSON that is read here: it is nested too deep") from None
    except TextError as error:
        raise FeedError(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FeedError(f"{path}: no JSON: {error}") from None
    return Profile(
        kind=file.kind,
        storm=file.storm,
        task=file.task,
        component=file.component,
        tasks=file.topology.tasks,
        streams=file.topology.streams,
        sources=file.topology.sources,
        conf=file.conf,
        feed=Feed(file.tuples, file.calls),
    )


def _refused(data: bytes, error: msgspec.ValidationError) -> str:
    """The mistakes in a feed, in a sentence. It may be no JSON behind the place where it is none by its type."""
    try:
        return "; ".join(schemas.explain(msgspec.json.decode(data), "feed")) or str(error)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return str(error)
