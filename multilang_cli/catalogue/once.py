"""Values that are loaded once and kept, also where several threads ask for it first at the same moment."""

from __future__ import annotations

from functools import cache, wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

_LOADING = RLock()


def once(load: Callable[P, T]) -> Callable[P, T]:
    """Keep what `load` gives for its arguments; it is called by one thread at a time.

    Two threads that have msgspec convert to a type for the first time end the process: what it knows of a type is made
    then, and not guarded (seen as a segmentation fault in ``convert``).
    """
    kept: Any = cache(load)

    @wraps(load)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        """Load it, one thread at a time."""
        with _LOADING:
            found: T = kept(*args, **kwargs)
            return found

    return guarded
