"""``mlcheck tap``: its options checked, then the tap or the stand-in that begins it. Light: the component waits."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.tap import plan as tap_plan
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import write

_KAFKA = re.compile(r"kafka://([^/\s]+/[\w.-]+)")
_ROTATE = re.compile(r"(?:(\d+)(KiB|MiB|GiB|KB|MB|GB)?)?(?:/(\d+)(s|m|h|d))?")
_BYTES = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class TapFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Flags of the command line, as they were written."""

    command: tuple[str, ...]
    record: str
    kind: str
    record_all: bool
    sample: float
    verbose: bool
    storm: str | None = None
    ring: int | None = None
    rotate: str | None = None
    keep: int | None = None
    status: Path | None = None
    write_wrapper: Path | None = None


def tap_given(flags: TapFlags) -> int:
    """Be the tap, or write its stand-in. Raises CommandError."""
    size, age = _rotation(flags.rotate)
    kafka = _topic(flags.record)
    if kafka and (flags.ring is not None or flags.keep is not None):
        raise CommandError(
            "tap: --ring and --keep are for files; in a topic all messages are, as long as Kafka keeps it."
        )
    record_all = flags.record_all or bool(kafka)
    of_parts = flags.rotate is not None or flags.keep is not None
    _check(flags.kind, ring=flags.ring, record_all=record_all, of_parts=of_parts)
    plan = tap_plan.TapPlan(
        command=flags.command,
        folder=tap_plan.FOLDER if kafka else Path(flags.record),
        storm=_known(flags.storm),
        kind="" if flags.kind == "auto" else flags.kind,
        ring=0 if record_all else flags.ring or tap_plan.RING_MESSAGES,
        rotate_size=size,
        rotate_age=age,
        keep=flags.keep or 0,
        sample=flags.sample,
        status=flags.status,
        verbose=flags.verbose,
        kafka=kafka,
    )
    return _stand_in(plan) if flags.write_wrapper is None else _write_wrapper(flags.write_wrapper, plan, flags.rotate)


def _topic(record: str) -> str:
    """HOST:PORT/TOPIC of a Kafka URL, "" for a folder. Raises CommandError."""
    if not record.startswith("kafka:"):
        return ""
    found = _KAFKA.fullmatch(record)
    if found is None:
        raise CommandError(f"tap: --record {record[:60]!r}: expected kafka://HOST:PORT/TOPIC.")
    if find_spec("confluent_kafka") is None:
        raise CommandError("tap: --record kafka: needs confluent-kafka; pip install 'multilang-cli[kafka]'.")
    return found[1]


def _check(kind: str, *, ring: int | None, record_all: bool, of_parts: bool) -> None:
    """Raise CommandError for options that make no sense together. `of_parts`: there are some of --record-all."""
    if of_parts and not record_all:
        raise CommandError("tap: --rotate and --keep are for --record-all; without it, the last messages are kept.")
    if record_all and ring is not None:
        raise CommandError("tap: --ring keeps the last messages, --record-all keeps all; leave out one of them.")
    if kind not in {"bolt", "spout", "auto"}:
        raise CommandError(f"tap: --kind: expected bolt, spout or auto, not {kind[:60]!r}.")


def _stand_in(plan: tap_plan.TapPlan) -> NoReturn:
    """Be the tap, and exit as its component does. Raises CommandError if that can't be started."""
    from multilang_cli.tap.run import tap as stand_in  # noqa: PLC0415 (not needed for --help)

    try:
        stand_in(plan)
    except LaunchError as error:
        hint = f" To help: {error.hint}." if error.hint else ""
        raise CommandError(f"tap: {error.message}{hint}", ExitCode.NO_FIRST_MESSAGE) from None


def _known(storm: str | None) -> str:
    if not storm:
        return ""
    from multilang_cli.subject.storms import known_storm  # noqa: PLC0415 (slow, and the component waits)

    return known_storm(storm)


def _rotation(text: str | None) -> tuple[int, float]:
    """Bytes and seconds, 0 for no bound. Raises CommandError."""
    if text is None:
        return tap_plan.ROTATE, 0.0
    found = _ROTATE.fullmatch(text)
    if not text or found is None:
        raise CommandError(f"tap: --rotate: expected SIZE, /AGE or SIZE/AGE, as in 64MiB/1h, not {text[:60]!r}.")
    size, unit, age, span = found.groups()
    return int(size or 0) * _BYTES[unit or ""], float(int(age or 0) * _SECONDS[span or "s"])


def _write_wrapper(path: Path, plan: tap_plan.TapPlan, rotate: str | None) -> int:
    """Write the stand-in, with the options that were flags. Raises CommandError."""
    from multilang_cli.tap import wrapper as tap_wrapper  # noqa: PLC0415
    from multilang_cli.transcript.given import BY_PATTERN, GIVEN  # noqa: PLC0415

    where = f"kafka://{plan.kafka}" if plan.kafka else str(plan.folder.absolute())
    options = ["--record", where, "--sample", str(plan.sample)]
    options += ["--storm", plan.storm] if plan.storm else []
    options += ["--kind", plan.kind] if plan.kind else []
    options += ["--ring", str(plan.ring)] if plan.ring else ["--record-all"]
    options += ["--rotate", rotate] if rotate else []
    options += ["--keep", str(plan.keep)] if plan.keep else []
    options += ["--status", str(plan.status.absolute())] if plan.status else []
    options += ["--verbose"] if plan.verbose else []
    options += [word for pattern in GIVEN.patterns for word in (BY_PATTERN, pattern.pattern)]
    try:
        tap_wrapper.write(path, tap_wrapper.text(options, plan.command))
    except FileExistsError:
        raise CommandError(f"tap: {path}: there is such a file, and it is no stand-in; name another.") from None
    except OSError as error:
        raise CommandError(f"tap: {path}: can't be written: {error.strerror}.") from None
    write(f"{path}\n")
    return ExitCode.CONFORMANT
