"""Sequences whose items are made when somebody looks at them: most are counted and passed on, and never looked at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """Base of such a sequence. A subclass knows its length, and how its items are made, all at once."""

    __slots__ = ("_items",)

    _items: list[T]

    @abstractmethod
    def _made(self) -> list[T]:
        """All items, in order."""

    def _all(self) -> list[T]:
        try:
            return self._items
        except AttributeError:
            self._items = made = self._made()
            return made

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]
