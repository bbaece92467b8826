"""Commands that are no more than a table of options: what was given goes to one function of the room they serve."""

from collections.abc import Callable, Iterable
from functools import wraps
from pkgutil import resolve_name
from typing import Any

from multilang_cli.cli.options.table import OptionTable, put_first, with_options


def flags_of(handler: Callable[..., int]) -> type[Any]:
    """The class of the flags that a handler takes first: it stands in the handler's module."""
    return resolve_name(f"{handler.__module__}:{next(iter(handler.__annotations__.values()))}")  # type: ignore[no-any-return]


def handled_by(
    handler: str, *names: str, options: OptionTable, most_used: Iterable[str] = ()
) -> Callable[[Callable[[], None]], Callable[..., int]]:
    """Make a command of a docstring, its help: its options are handled by ``room.module:function``.

    The function is called with its flags, made of the values by the names of the options, without those that were not
    given; behind them, with what further `names` stand for. It gives the exit code. All are looked up once the command
    is called: ``--help`` needs nothing slow to import. `most_used`: the options that its help tells first.
    """

    def _handled(declaration: Callable[[], None]) -> Callable[..., int]:
        @wraps(declaration)
        def _command(**values: Any) -> int:
            handle, *others = (resolve_name(f"multilang_cli.{name}") for name in (handler, *names))
            given = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in values.items()
                if value is not None
            }
            code: int = handle(flags_of(handle)(**given), *others)
            return code

        _command.__dict__["handlers"] = (handler, *names)
        return with_options(_command, put_first(options, most_used))

    return _handled
