"""Where ingest stands in its topic, as its checkpoint has it: read, moved on, or made anew from the archive.

Spark keeps two logs of numbered entries there: `offsets/N` says where batch N ends, before it runs, and `commits/N`
that it is done. Beside them lies one of ours, `topics/N`: which topic it was (see `topic`).
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from lineproof.schemas.archive_names import name_in_archive, newest_name
from lineproof.streaming.delta.files import Directory
from lineproof.streaming.recovery.checkpoint import read_checkpoint
from lineproof.streaming.recovery.topic import (
    Offsets,
    Origin,
    Position,
    Ranges,
    Topic,
    begins_after,
    find_loss,
)

log = logging.getLogger(__name__)

_NO_METADATA = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'
_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


class IngestPosition:
    """The position that ingest's checkpoint holds."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._checkpoint = read_checkpoint(spark, path)
        self._files = Directory(spark, path)

    def origin(self) -> Origin | None:
        """What ingest reads. An entry whose batch is not done is of a move that was not brought to its end."""
        last = self._checkpoint.last_finished_batch
        return next((entry for entry in reversed(self._log()) if entry.moved_at <= last), None)

    def read(self, written: Mapping[str, int]) -> Position | None:
        """The position after the last batch that the archive has; None before the first one is planned.

        `written` are the last batches in the archive, by checkpoint. The last one may be there without Spark knowing.
        """
        batch = max(written.get(str(self._checkpoint.query_id), -1), self._checkpoint.last_finished_batch)
        found = self._end_of(batch)
        if found is None:
            return None
        ((topic, offsets),) = found.items()
        return Position(self.origin() or Origin(topic, "", topic), batch + 1, offsets)

    def settle(self, topic: Topic, written: Mapping[str, int], accepted: int | None) -> Origin:
        """Make sure that ingest can go on with the topic as it is now; refuse where that would lose records.

        A loss is accepted by the number of the batch it was told for, so that no other one is.
        """
        position = self.read(written)
        if position is None:
            return self._remember(Origin(topic.name, topic.id, topic.name))
        loss = find_loss(position, topic)
        if loss is None:
            origin = replace(position.origin, topic_id=topic.id or position.origin.topic_id)
            # Spark would repeat a batch that is archived, but whose records may have expired since.
            is_in_the_way = begins_after(topic, self._restart())
            return self._move(origin, position.offsets) if is_in_the_way else self._remember(origin)
        if accepted != position.batch:
            raise loss
        log.warning("Accepted: %s", loss.what)
        if not loss.is_new_topic:
            return self._move(position.origin, loss.offsets)
        used = {position.origin.archived_as, *(entry.archived_as for entry in self._log())}
        return self._move(Origin(topic.name, topic.id, name_in_archive(topic.name, used)), loss.offsets)

    def restore(self, query_id: str, batch: int, topic: str, archived: Mapping[str, Ranges]) -> None:
        """Make the checkpoint anew that wrote the archive: its id, its last batch, and the offsets behind that."""
        archived_as = newest_name(topic, archived)
        for name in sorted(archived.keys() - {archived_as}):
            self._remember(Origin(name.partition("#")[0], "", name))
        self._remember(Origin(topic, "", archived_as))
        offsets = {partition: end for partition, (_, end) in archived.get(archived_as, {}).items()}
        for number in range(max(0, batch - 1), batch + 1):  # Spark looks at the last two
            self._plan(number, topic, offsets)
        self._files.write(f"commits/{batch}", _COMMIT)
        self._files.write("metadata", json.dumps({"id": query_id}))

    def _restart(self) -> Offsets:
        """Where Spark goes on: behind the last batch that the checkpoint knows to be done."""
        found = self._end_of(self._checkpoint.last_finished_batch) or {}
        return next(iter(found.values()), {})

    def _end_of(self, batch: int) -> dict[str, Offsets] | None:
        """Where a batch ends, by topic; that of batch -1 is where the first one begins."""
        entry = self._files.read(f"offsets/{batch}" if batch >= 0 else "sources/0/0")
        if entry is None:
            return None
        by_topic = json.loads(entry.splitlines()[-1])
        return {
            topic: {int(partition): offset for partition, offset in offsets.items()}
            for topic, offsets in by_topic.items()
        }

    def _move(self, origin: Origin, offsets: Offsets) -> Origin:
        """Go on from these offsets, as if a batch had ended there. It is done when, and only when, that batch is."""
        batch = self._checkpoint.last_planned_batch + 1
        moved = self._remember(replace(origin, moved_at=batch))
        self._plan(batch, origin.topic, offsets)
        self._files.write(f"commits/{batch}", _COMMIT)
        return moved

    def _plan(self, batch: int, topic: str, offsets: Offsets) -> None:
        before = self._files.read(f"offsets/{batch - 1}")
        metadata = before.splitlines()[1] if before else _NO_METADATA
        ends = {topic: {str(partition): offset for partition, offset in sorted(offsets.items())}}
        text = json.dumps(ends, separators=(",", ":"))  # as Spark writes it, which compares texts
        self._files.write(f"offsets/{batch}", f"v1\n{metadata}\n{text}")

    def _log(self) -> list[Origin]:
        entries = (self._files.read(f"topics/{number}") for number in self._files.numbers("topics"))
        return [Origin.of(entry) for entry in entries if entry]

    def _remember(self, origin: Origin) -> Origin:
        if self._log()[-1:] != [origin]:
            self._files.write(f"topics/{max(self._files.numbers('topics'), default=-1) + 1}", origin.text())
        return origin
