"""Options that a command is given without naming them: what holds for many is declared once."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def with_option(function: Callable[..., Any], name: str, annotation: Any, default: Any = None) -> Callable[..., Any]:
    """`function` with one more option, for typer, which reads signatures and annotations."""

    @wraps(function)
    def accepting(*args: Any, **values: Any) -> Any:
        """The function itself."""
        return function(*args, **values)

    option = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    known = signature(function, eval_str=True)
    accepting.__annotations__ = {**function.__annotations__, name: annotation}
    accepting.__dict__["__signature__"] = known.replace(parameters=[*known.parameters.values(), option])
    return accepting
