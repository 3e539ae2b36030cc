"""A Kafka record: as a producer sends it, and as a topic has it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Header = tuple[str, bytes | None]


@dataclass(frozen=True)
class Record:
    """Key, value and headers. Without a partition, the key decides which partition it goes to."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[Header] = ()
    partition: int | None = None


@dataclass(frozen=True)
class TopicRecord:
    """A record of a topic, with the timestamp in milliseconds that its producer or the broker gave it."""

    offset: int
    timestamp_ms: int
    timestamp_type: int
    """0 set by the producer, 1 by the broker."""
    key: bytes | None
    headers: Sequence[Header]
    value: bytes | None


ReadRecords = Callable[[str, int, int, int], Iterator[TopicRecord]]
"""Reads the records of a topic's partition from the first offset to the offset after the last."""
