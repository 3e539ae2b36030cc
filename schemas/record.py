"""A Kafka record as a producer sends it."""

from collections.abc import Sequence
from dataclasses import dataclass

Header = tuple[str, bytes | None]


@dataclass(frozen=True)
class Record:
    """Key, value and headers. Without a partition, the key decides which partition it goes to."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[Header] = ()
    partition: int | None = None
