"""The unkind case: run ids without a time, late events, uneven partitions, and a dead letter in each batch."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from random import Random
from zlib import crc32

from lineproof.bench.generate import STARTED, History
from lineproof.schemas.record import Record

LATE_SHARE = 0.01
MAX_DELAY = 1_000_000
"""A late event arrives up to this many records after its own place."""
CROWDED_PERCENT = 70
"""So many of a hundred runs are on the first partition."""
DEAD_LETTERS_EVERY = 50_000


class AdverseHistory:
    """Records that are expensive to take: first `before` of them, then those that come much later."""

    def __init__(self, before: int, batch: int) -> None:
        self._random = Random(24)  # noqa: S311
        self._history = History(uuid_version=4)
        self._before, self._batch = before, batch
        self._kept: list[Record] = []

    def first(self) -> Iterator[Record]:
        """The records that fill the tables. Some are kept back for `last`."""
        every = max(1, round(self._before / (self._batch * LATE_SHARE)))
        late: dict[int, list[Record]] = {}
        for number, record in enumerate(self._history.records(self._before, STARTED)):
            if number % every == every - 1:
                self._kept.append(_placed(record))
            elif self._random.random() < LATE_SHARE:
                late.setdefault(number + self._random.randrange(1, MAX_DELAY), []).append(_placed(record))
            else:
                yield _placed(record)
            yield from late.pop(number, ())
            if number % DEAD_LETTERS_EVERY == 0:
                yield Record(b"poison", b"no event")
        for records in late.values():
            yield from records

    def last(self, began: datetime) -> Iterator[Record]:
        """A batch of records: new runs, events that belong to runs of `first`, and a record that is no event."""
        late = self._kept[: round(self._batch * LATE_SHARE)]
        new = History(7, uuid_version=4).records(self._batch - len(late) - 1, began)
        records = [*map(_placed, islice(new, self._batch)), *late, Record(b"poison", b"no event")]
        self._random.shuffle(records)
        return iter(records)


def _placed(record: Record) -> Record:
    """The record on the first partition, if its run belongs there."""
    is_crowded = crc32(record.key or b"") % 100 < CROWDED_PERCENT
    return replace(record, partition=0) if is_crowded else record
