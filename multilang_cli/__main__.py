"""The command ``mlcheck``. Answers ``--version`` before anything else is imported."""

from __future__ import annotations

import os
import sys

from multilang_cli import __version__

_ABOVE_MISUSE = frozenset({5, 130})
"""Exit codes that count more than 2 (``terminal.exits.PRECEDENCE``)."""
HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH120, PTH100 (pathlib is imported later)


def main() -> int:
    """Do what the command line says; the exit code."""
    code = 0
    try:
        _mind_own_modules()
        code = _done(sys.argv[1:])
        sys.stdout.flush()
        _end_at_once()
    except OSError as error:
        code = _stdout_refuses(error, code)
    except (KeyboardInterrupt, RuntimeError) as error:
        # While modules are imported nobody else takes it yet, and Python before 3.12 wraps it (`of_interrupt`).
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        code = 130
        sys.stderr.write("mlcheck: interrupted.\n")
    _end_at_once()
    if sys.flags.inspect:
        _leave(code)
    return code


def _done(arguments: list[str]) -> int:
    from multilang_cli.streams import have_usual_output, open_closed  # noqa: PLC0415 (nothing is imported too early)

    open_closed()
    have_usual_output()
    if arguments[:1] == ["--version"]:
        sys.stdout.write(f"mlcheck {__version__}\n")
        return 0
    from multilang_cli.terminal.interrupts import interruptible  # noqa: PLC0415

    with interruptible():
        from multilang_cli.cli.dispatch import dispatch  # noqa: PLC0415

        return dispatch(arguments)


def _end_at_once() -> None:
    """Have an interrupt end the process: all is said, and what is cleaned up now would show a traceback of it."""
    if "multilang_cli.terminal.interrupts" in sys.modules:
        from multilang_cli.terminal.interrupts import end_at_once  # noqa: PLC0415

        end_at_once()


def _stdout_refuses(error: OSError, code: int) -> int:
    """Give stdout up, of which Python would make exit code 120; 2, but for a reader that left or a code above it."""
    from multilang_cli.streams import abandon  # noqa: PLC0415

    abandon(sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return code
    sys.stderr.write(f"mlcheck: stdout can't be written: {error.strerror}.\n")
    return code if code in _ABOVE_MISUSE else 2


def _mind_own_modules() -> None:
    """Look for modules in PYTHONPATH last: a component's json.py is not Python's.

    They stay on the path: PySpark and Kafka's client are often found by it.
    """
    given = os.environ.get("PYTHONPATH")
    if not given:
        return
    folders = {os.path.abspath(folder) for folder in given.split(os.pathsep)}  # noqa: PTH100
    folders -= {HOME, os.path.dirname(os.__file__)}  # noqa: PTH120
    last = [folder for folder in sys.path if os.path.abspath(folder) in folders]  # noqa: PTH100
    sys.path[:] = [folder for folder in sys.path if folder not in last] + last


def _leave(code: int) -> None:
    """End the process: PYTHONINSPECT would take an exit for something to look into, and wait for a person."""
    import atexit  # noqa: PLC0415

    atexit._run_exitfuncs()  # noqa: SLF001 (there is no other way to run them)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
