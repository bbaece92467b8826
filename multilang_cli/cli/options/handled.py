"""Commands that are no more than a table of options: what was given goes to one function of the room they serve."""

from collections.abc import Callable
from functools import wraps
from pkgutil import resolve_name
from typing import Any


def flags_of(handler: Callable[..., int]) -> type[Any]:
    """The class of the flags that a handler takes first: it stands in the handler's module."""
    return resolve_name(f"{handler.__module__}:{next(iter(handler.__annotations__.values()))}")  # type: ignore[no-any-return]


def handled_by(handler: str, *names: str) -> Callable[[Callable[..., None]], Callable[..., int]]:
    """Have a declaration of options handled by a function, ``room.module:function``, which gives the exit code.

    It is called with its flags, made of the values by the names of the options, without those that were not given;
    behind them, with what further `names` stand for. All are looked up once the command is called: ``--help`` needs
    nothing slow to import.
    """

    def _handled(declaration: Callable[..., None]) -> Callable[..., int]:
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
        return _command

    return _handled
