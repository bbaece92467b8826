"""A map that forgets by generations (``RotatingMap``): time comes as rotations, one a tick."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

K = TypeVar("K")
V = TypeVar("V")

FEWEST_BUCKETS = 2


class RotatingMap(msgspec.Struct, Generic[K, V]):
    """Buckets, the youngest first. With n buckets rotated every T seconds, a key lives between (n-1) and n times T.

    Every operation takes time proportional to the number of buckets, which is small. Make one with `of`.
    """

    buckets: list[dict[K, V]]

    @classmethod
    def of(cls, count: int) -> RotatingMap[K, V]:
        """An empty map of `count` buckets. Raises ValueError if there are fewer than 2, as Storm does."""
        if count < FEWEST_BUCKETS:
            raise ValueError(f"a rotating map needs {FEWEST_BUCKETS} buckets or more, not {count}")
        return cls([{} for _ in range(count)])

    def get(self, key: K) -> V | None:
        """The value of `key`, None if it is unknown or expired."""
        for bucket in self.buckets:
            if key in bucket:
                return bucket[key]
        return None

    def put(self, key: K, value: V) -> None:
        """Set `key`, in the youngest bucket: its time starts again."""
        self.remove(key)
        self.buckets[0][key] = value

    def remove(self, key: K) -> V | None:
        """Take `key` out; gives what it stood for, None if it is unknown."""
        for bucket in self.buckets:
            if key in bucket:
                return bucket.pop(key)
        return None

    def rotate(self) -> dict[K, V]:
        """Age everything by one bucket; gives what expired, the earliest put first."""
        expired = self.buckets.pop()
        self.buckets.insert(0, {})
        return expired

    def __len__(self) -> int:
        return sum(map(len, self.buckets))
