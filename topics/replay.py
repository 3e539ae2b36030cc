"""Archived records onto a topic: the same keys, values and headers, and one header more, which names the source."""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from lineproof.local.endpoints import client_options
from lineproof.serving.archive import Archive, ArchivedRecord
from lineproof.serving.atomic_file import write_whole
from lineproof.serving.replay_plan import Plan, load_plan, make_plan
from lineproof.serving.selection import Selection
from lineproof.settings import Settings
from lineproof.topics.cluster import Kafka, RecordInPartition

REPLAYED_FROM = "lineproof.replayed-from"
"""The header that names the archived record, as TOPIC/PARTITION/OFFSET."""


class TopicReplay:
    """One replay, which remembers how far it came: what is sent is what the broker has acknowledged.

    Records that came in one partition go to one partition, in their order.
    """

    def __init__(self, plan: Plan, archive: Archive, kafka: Kafka, topic: str) -> None:
        self.plan = plan
        self._archive, self._kafka, self._topic = archive, kafka, topic
        self._partitions = kafka.topics()[topic]
        self._file = plan.directory / "position.json"
        self._part, self._offset, self.sent = _position(self._file)

    def run(self, rate: float | None = None) -> Iterator[int]:
        """Send what is left, at most so many records a second; tells how many were sent in all."""
        began, sent_before = time.monotonic(), self.sent
        at_once = max(1, int(rate)) if rate else None
        for number, part in enumerate(self.plan.parts[self._part :], self._part):
            after = self._offset if number == self._part else -1
            for batch in self._archive.records(self.plan.selected, part, after):
                step = at_once or len(batch)
                for some in (batch[begin : begin + step] for begin in range(0, len(batch), step)):
                    self._kafka.send(self._topic, map(self._again, some))
                    self._remember(number, some[-1].offset, self.sent + len(some))
                    yield self.sent
                    if rate:
                        time.sleep(max(0.0, began + (self.sent - sent_before) / rate - time.monotonic()))
        shutil.rmtree(self.plan.directory)

    def _again(self, record: ArchivedRecord) -> RecordInPartition:
        source = f"{record.topic}/{record.partition}/{record.offset}"
        headers = [header for header in record.headers if header[0] != REPLAYED_FROM]
        partition = record.partition % self._partitions
        return record.key, record.value, [*headers, (REPLAYED_FROM, source.encode())], partition

    def _remember(self, part: int, offset: int, sent: int) -> None:
        write_whole(self._file, json.dumps({"part": part, "offset": offset, "sent": sent}))
        self.sent = sent


def replay_to_topic(settings: Settings, selection: Selection, topic: str) -> TopicReplay:
    """A replay onto a topic: a new one, or that which was stopped, if all is said in the same words.

    A topic made anew has another id, and gets everything from the beginning.
    """
    kafka = Kafka(client_options(settings))
    kafka.require_topics(topic)
    tables = settings.tables_path
    purpose = {"tables": tables, "topic": topic, "id": kafka.topic_id(topic), "selection": selection.said()}
    name = hashlib.sha256(json.dumps(purpose, sort_keys=True).encode()).hexdigest()[:16]
    directory = settings.home.absolute() / "replays" / name
    plan = load_plan(directory) or make_plan(directory, purpose, selection, tables, settings.home)
    return TopicReplay(plan, Archive(tables, settings.home), kafka, topic)


def _position(file: Path) -> tuple[int, int, int]:
    try:
        kept = json.loads(file.read_text())
    except FileNotFoundError:
        return 0, -1, 0
    return kept["part"], kept["offset"], kept["sent"]
