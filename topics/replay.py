"""Send archived records to a topic again: the same keys, values and headers, and a header that names the source."""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from lineproof.schemas.headers import REPLAYED_FROM
from lineproof.schemas.record import Record
from lineproof.serving.archive import Archive, ArchivedRecord
from lineproof.serving.atomic_file import write_atomically
from lineproof.serving.replay_plan import Plan, load_plan, make_plan
from lineproof.serving.selection import Selection
from lineproof.topics.cluster import KafkaCluster


class TopicReplay:
    """One replay. It remembers its position: up to which record the broker has acknowledged.

    The records of one source partition all go to one partition of the topic, in their order.
    """

    def __init__(self, plan: Plan, archive: Archive, cluster: KafkaCluster, topic: str) -> None:
        self.plan = plan
        self._archive, self._cluster, self._topic = archive, cluster, topic
        self._partitions = cluster.topics()[topic]
        self._file = plan.directory / "position.json"
        self._range, self._offset, self.sent = _load_position(self._file)

    def run(self, rate: float | None = None) -> Iterator[int]:
        """Send the remaining records, at most `rate` a second; yields how many were sent in all."""
        began, sent_before = time.monotonic(), self.sent
        at_once = max(1, int(rate)) if rate else None
        for number, offsets in enumerate(self.plan.ranges[self._range :], self._range):
            after = self._offset if number == self._range else -1
            for batch in self._archive.records(self.plan.filter, offsets, after):
                step = at_once or len(batch)
                for records in (batch[begin : begin + step] for begin in range(0, len(batch), step)):
                    self._cluster.send(self._topic, map(self._replayed_record, records))
                    self._save_position(number, records[-1].offset, self.sent + len(records))
                    yield self.sent
                    if rate:
                        time.sleep(max(0.0, began + (self.sent - sent_before) / rate - time.monotonic()))
        shutil.rmtree(self.plan.directory)

    def _replayed_record(self, record: ArchivedRecord) -> Record:
        source = f"{record.topic}/{record.partition}/{record.offset}"
        headers = [header for header in record.headers if header[0] != REPLAYED_FROM]
        partition = record.partition % self._partitions
        return Record(record.key, record.value, [*headers, (REPLAYED_FROM, source.encode())], partition)

    def _save_position(self, number: int, offset: int, sent: int) -> None:
        write_atomically(self._file, json.dumps({"part": number, "offset": offset, "sent": sent}))
        self.sent = sent


def replay_to_topic(tables: str, home: Path, selection: Selection, cluster: KafkaCluster, topic: str) -> TopicReplay:
    """Continue the replay that was stopped, if tables, topic and filters are the same; otherwise plan a new replay.

    A recreated topic has another id, so its replay starts from the beginning.
    """
    cluster.require_topics(topic)
    purpose = {"tables": tables, "topic": topic, "id": cluster.topic_id(topic), "selection": selection.options()}
    name = hashlib.sha256(json.dumps(purpose, sort_keys=True).encode()).hexdigest()[:16]
    directory = home.absolute() / "replays" / name
    plan = load_plan(directory) or make_plan(directory, purpose, selection, tables, home)
    return TopicReplay(plan, Archive(tables, home), cluster, topic)


def _load_position(file: Path) -> tuple[int, int, int]:
    """The number of the current range, the last offset sent of it, and how many records were sent in all."""
    try:
        position = json.loads(file.read_text())
    except FileNotFoundError:
        return 0, -1, 0
    return position["part"], position["offset"], position["sent"]
