"""`lineproof emit`: events from files onto the topic, however large the files are."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lineproof.local.endpoints import client_options, registry_of
from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.openlineage import InvalidEvent
from lineproof.serving.atomic_file import write_whole
from lineproof.settings import Settings
from lineproof.topics.cluster import Kafka
from lineproof.topics.event_files import BEGINNING, STDIN, Place, opened, split

AT_A_TIME = 2000
"""So many events are under way. When the topic has them, it is written down how far we are."""
TIMEOUT_S = 60


class NotDelivered(LineproofError):
    """The broker did not take all events."""


@dataclass(frozen=True)
class Position:
    """How far a load has come."""

    file: int = 0
    place: Place = BEGINNING
    sent: int = 0
    refused: int = 0


class Load:
    """The events of some files, published in their order. One that was stopped goes on where it was."""

    def __init__(self, files: Sequence[str], settings: Settings) -> None:
        for name in files:
            if name != STDIN:
                with opened(name):  # named before anything is sent
                    pass
        self._files = files
        self._topic, self._spool = settings.topics.events, settings.spool_path
        options = client_options(settings)
        kafka = Kafka(options)
        kafka.require_topics(self._topic)
        self._remembered = _place_to_remember(files, f"{self._topic} {kafka.topic_id(self._topic)}", settings.home)
        registry = registry_of(settings)
        transport = kafka_transport(options, self._topic, self._spool / "kafka", registry=registry)
        self._emitter = Emitter(transport, namespace="")
        self.position = _recall(self._remembered)

    @property
    def bytes(self) -> int | None:
        """Of all files; None where one of them is stdin."""
        return None if STDIN in self._files else sum(Path(name).stat().st_size for name in self._files)

    def forget(self) -> str:
        """How to begin anew."""
        return f"remove {self._remembered}"

    def run(self, complain: Callable[[str], None], report: Callable[[int, int], None]) -> Position:
        """Publish what is left. Tells how many events were sent in all, and how many bytes of the files were read."""
        before = 0
        try:
            for number, name in enumerate(self._files):
                if number >= self.position.file:
                    for read in self._load(number, name, complain):
                        report(self.position.sent, before + read)
                before += 0 if name == STDIN else Path(name).stat().st_size
            self._flush()
        except BaseException:
            # What was published is safe in the spool: the next `emit` sends it.
            self._remember()
            raise
        if self._remembered:
            self._remembered.unlink(missing_ok=True)
        return self.position

    def _load(self, number: int, name: str, complain: Callable[[str], None]) -> Iterator[int]:
        """Publish what is left of a file; tells how many of its bytes were read."""
        after = self.position.place if number == self.position.file else BEGINNING
        with opened(name) as (lines, read):
            for document in split(lines, after):
                is_valid = True
                try:
                    self._emitter.publish_json(document.payload)
                except InvalidEvent as error:
                    complain(f"{name}:{document.line}: {error.what}")
                    is_valid = False
                sent, refused = self.position.sent + is_valid, self.position.refused + (not is_valid)
                self.position = Position(number, document.end, sent, refused)
                if (sent + refused) % AT_A_TIME == 0:
                    self._flush()
                    self._remember()
                    yield read()

    def _flush(self) -> None:
        delivered = self._emitter.flush(TIMEOUT_S)
        stats = self._emitter.stats.delivery
        if not delivered:
            raise NotDelivered(
                f"{stats.pending} events were not delivered to {self._topic} in time.",
                f"Check the broker. They wait in {self._spool}; the same command sends them, and goes on.",
            )
        if failed := stats.rejected + stats.lost:
            raise NotDelivered(
                f"{failed} events were not delivered to {self._topic}: the broker does not take them, or there was no "
                f"room for them in {self._spool}.",
                "The log says why (-v). Those that the broker does not take are in `rejected` there.",
            )

    def _remember(self) -> None:
        if self._remembered:
            self._remembered.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._remembered, json.dumps(asdict(self.position)))


def _place_to_remember(files: Sequence[str], target: str, home: Path) -> Path | None:
    """A file for these very files and this very topic; none for stdin, which nobody can read twice."""
    if STDIN in files:
        return None
    states = [(Path(name).absolute(), Path(name).stat()) for name in files]
    said = [target, *(f"{name} {state.st_size} {state.st_mtime_ns}" for name, state in states)]
    name = hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
    return home.absolute() / "loads" / f"{name}.json"


def _recall(file: Path | None) -> Position:
    if file is None or not file.exists():
        return Position()
    kept = json.loads(file.read_text())
    return Position(**{**kept, "place": Place(**kept["place"])})
