"""Publish OpenLineage events from files of any size."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.openlineage import InvalidEvent
from lineproof.schemas.registry import Registry
from lineproof.serving.atomic_file import write_atomically
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.event_files import BEGINNING, STDIN, LinePosition, opened, split

EVENTS_PER_CHECKPOINT = 2000
"""After so many events the load waits until the broker has them, and saves its progress."""
TIMEOUT_S = 60


class NotDelivered(LineproofError):
    """The broker did not accept all events."""


@dataclass(frozen=True)
class LoadProgress:
    """How far a load has come: the number of the file, the position in it, and how many events there were."""

    file: int = 0
    place: LinePosition = BEGINNING
    sent: int = 0
    refused: int = 0


class Load:
    """Publishes the events of some files in order. A load that was stopped continues where it was."""

    def __init__(
        self,
        files: Sequence[str],
        options: Mapping[str, str],
        topic: str,
        spool: Path,
        home: Path,
        registry: Registry | None = None,
    ) -> None:
        self._files = files
        self._topic, self._spool = topic, spool
        cluster = KafkaCluster(options)
        cluster.require_topics(topic)
        self._progress_file = _progress_file(files, f"{topic} {cluster.topic_id(topic)}", home)
        transport = kafka_transport(options, topic, spool / "kafka", registry=registry)
        self._emitter = Emitter(transport, namespace="")
        self.progress = _load_progress(self._progress_file)

    @property
    def bytes(self) -> int | None:
        """The size of all files; None if one of them is stdin."""
        return None if STDIN in self._files else sum(Path(name).stat().st_size for name in self._files)

    def how_to_restart(self) -> str:
        """What to do to start from the beginning."""
        return f"remove {self._progress_file}"

    def run(self, complain: Callable[[str], None], report: Callable[[int, int], None]) -> LoadProgress:
        """Publish the remaining events.

        Calls `complain` for every event that is not valid, and `report` with the events sent in all and the bytes read.
        """
        before = 0
        try:
            for number, name in enumerate(self._files):
                if number >= self.progress.file:
                    for read in self._publish(number, name, complain):
                        report(self.progress.sent, before + read)
                before += 0 if name == STDIN else Path(name).stat().st_size
            self._flush()
        except BaseException:
            # Published events are safe in the spool: the next load sends them.
            self._save_progress()
            raise
        if self._progress_file:
            self._progress_file.unlink(missing_ok=True)
        return self.progress

    def _publish(self, number: int, name: str, complain: Callable[[str], None]) -> Iterator[int]:
        """Publish the remaining events of a file; yields how many of its bytes were read."""
        after = self.progress.place if number == self.progress.file else BEGINNING
        with opened(name) as (lines, read):
            for document in split(lines, after):
                is_valid = True
                try:
                    self._emitter.publish_json(document.payload)
                except InvalidEvent as error:
                    complain(f"{name}:{document.line}: {error.what}")
                    is_valid = False
                sent, refused = self.progress.sent + is_valid, self.progress.refused + (not is_valid)
                self.progress = LoadProgress(number, document.end, sent, refused)
                if (sent + refused) % EVENTS_PER_CHECKPOINT == 0:
                    self._flush()
                    self._save_progress()
                    yield read()

    def _flush(self) -> None:
        delivered = self._emitter.flush(TIMEOUT_S)
        stats = self._emitter.stats.delivery
        if not delivered:
            raise NotDelivered(
                f"{stats.pending} events were not delivered to {self._topic} in time.",
                f"Check the broker. The events are in {self._spool}; the same command sends them and continues.",
            )
        if failed := stats.rejected + stats.lost:
            raise NotDelivered(
                f"{failed} events were not delivered to {self._topic}: the broker refuses them, or there was no room "
                f"for them in {self._spool}.",
                "The log says why (-v). Events that the broker refuses are in the directory `rejected` there.",
            )

    def _save_progress(self) -> None:
        if self._progress_file:
            self._progress_file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._progress_file, json.dumps(asdict(self.progress)))


def _progress_file(files: Sequence[str], target: str, home: Path) -> Path | None:
    """One file for the same files and the same topic; none for stdin, which cannot be read twice."""
    if STDIN in files:
        return None
    states = [(Path(name).absolute(), Path(name).stat()) for name in files]
    identity = [target, *(f"{name} {state.st_size} {state.st_mtime_ns}" for name, state in states)]
    name = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    return home.absolute() / "loads" / f"{name}.json"


def _load_progress(file: Path | None) -> LoadProgress:
    if file is None or not file.exists():
        return LoadProgress()
    saved = json.loads(file.read_text())
    return LoadProgress(**{**saved, "place": LinePosition(**saved["place"])})
