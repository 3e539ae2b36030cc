"""Records to the topic, with an answer for each of them after the broker has acknowledged it."""

import asyncio
import logging
import threading
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.frames import SpooledRecord, encode_headers
from lineproof.producers.spooling.log_throttle import LogThrottle
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.transports.kafka import (
    DEFAULTS,
    MAX_SPOOL_BYTES,
    REJECTED_CODES,
    InvalidKafkaOptions,
    KafkaSender,
    framed,
)
from lineproof.schemas.avro import newest
from lineproof.schemas.headers import PRINCIPAL
from lineproof.schemas.registry import Registry

log = logging.getLogger(__name__)

_POLL_S = 0.1
_FLUSH_S = 10.0
_OWN_DEFAULTS: dict[str, Any] = {
    # A client waits for the answer.
    "linger.ms": 3,
    # Without a spool behind it, the producer's own queue takes what arrives within one round trip.
    "queue.buffering.max.messages": 100_000,
}


class WhenBrokerIsDown(str, Enum):
    """What becomes of events that the broker does not acknowledge."""

    REFUSE = "refuse"
    SPOOL = "spool"


class Outcome(Enum):
    """What became of a record."""

    STORED = "stored"
    SPOOLED = "spooled"
    """On disk. It is delivered when the broker is back."""
    UNAVAILABLE = "unavailable"
    """The broker did not acknowledge it in time. It may have arrived all the same."""
    REJECTED = "rejected"
    """The broker will never accept it."""


class Answer(NamedTuple):
    """What became of a record, and why."""

    outcome: Outcome
    reason: str = ""


_STORED = Answer(Outcome.STORED)


class TopicWriter:
    """A Kafka producer, the thread that polls it, and the spool if there is one. Used by one event loop."""

    def __init__(
        self,
        options: Mapping[str, str],
        topic: str,
        spool: Path,
        *,
        when_down: WhenBrokerIsDown = WhenBrokerIsDown.REFUSE,
        timeout_s: float = 10,
        max_spool_bytes: int = MAX_SPOOL_BYTES,
        registry: Registry | None = None,
    ) -> None:
        self._topic, self._registry = topic, registry
        timeout = {"message.timeout.ms": round(timeout_s * 1000)}
        self._options = {**DEFAULTS, **_OWN_DEFAULTS, **timeout, **options, "error_cb": self._on_error}
        self._log = LogThrottle(log)
        self._producer = self._new_producer()
        self._is_stopping = self._is_broken = False
        self._poller = threading.Thread(target=self._poll, name="lineproof-gateway-poll", daemon=True)
        self._spool = None
        if when_down is WhenBrokerIsDown.SPOOL:
            open_sender = partial(KafkaSender, {**DEFAULTS, **options}, topic, registry)
            self._spool = Delivery(Spool(spool / topic, max_spool_bytes), open_sender)

    def start(self) -> None:
        """Start to poll. With a registry, it must answer now, so that no request waits for it."""
        if self._registry:
            self._registry.register(self._topic, newest("envelope"))
        self._poller.start()

    async def store(self, records: Sequence[SpooledRecord], principal: str | None) -> list[Answer]:
        """Store the records, and return what became of each of them."""
        headers = {PRINCIPAL: principal} if principal else {}
        if self._spool and self._spool.spool.pending_bytes:
            # Events that wait stay before the events that follow them.
            return [self._spooled(record, headers) for record in records]
        answers = await self._produce(records, headers)
        if self._spool is None:
            return answers
        return [
            self._spooled(record, headers) if answer.outcome is Outcome.UNAVAILABLE else answer
            for record, answer in zip(records, answers, strict=True)
        ]

    def confirm(self, timeout_s: float) -> str | None:
        """Why events cannot be stored now; None if they can."""
        try:
            topic = self._producer.list_topics(self._topic, timeout_s).topics[self._topic]
        except KafkaException as error:
            return str(error.args[0].str())
        return None if topic.error is None else str(topic.error.str())

    @property
    def has_spool(self) -> bool:
        """Whether events can wait on disk."""
        return self._spool is not None

    @property
    def spooled(self) -> tuple[int, int]:
        """The number of events in the spool, and their bytes."""
        return (self._spool.spool.pending, self._spool.spool.pending_bytes) if self._spool else (0, 0)

    def close(self) -> bool:
        """Wait for records in flight, and stop. Returns False if events are left in the spool."""
        left = self._producer.flush(_FLUSH_S)
        if left:
            log.warning("%d events were not acknowledged. Their clients have no answer, and send them again.", left)
        self._is_stopping = True
        if self._poller.is_alive():
            self._poller.join(2 * _POLL_S + 1)
        return self._spool.close(_FLUSH_S) if self._spool else True

    async def _produce(self, records: Sequence[SpooledRecord], headers: Mapping[str, str]) -> list[Answer]:
        if self._is_broken:
            self._replace_producer()
        pending = _Pending(len(records))
        kafka_headers: Any = [(name, value.encode()) for name, value in headers.items()] or None
        for index, record in enumerate(records):
            try:
                self._producer.produce(
                    self._topic,
                    framed(record.value, self._topic, self._registry),
                    record.key or None,
                    on_delivery=partial(self._on_delivery, pending, index),
                    headers=kafka_headers,
                )
            except BufferError:
                pending.answer(index, Answer(Outcome.UNAVAILABLE, "too many events wait for the broker"))
            except KafkaException as error:
                self._on_delivery(pending, index, error.args[0], None)
        return await pending.future

    def _spooled(self, record: SpooledRecord, headers: Mapping[str, str]) -> Answer:
        assert self._spool is not None  # noqa: S101
        if self._spool.append(record._replace(headers=encode_headers(headers))):
            return Answer(Outcome.SPOOLED)
        return Answer(Outcome.UNAVAILABLE, "the broker does not answer, and the spool is full")

    def _new_producer(self) -> Producer:
        try:
            return Producer(self._options)
        except KafkaException as error:
            raise InvalidKafkaOptions(
                f"The Kafka options are not valid: {error.args[0].str()}.", "Correct the options under `kafka`."
            ) from error

    def _replace_producer(self) -> None:
        broken, self._producer, self._is_broken = self._producer, self._new_producer(), False
        broken.purge()
        broken.flush(1)  # answers the requests that wait for it

    def _on_delivery(self, pending: "_Pending", index: int, error: KafkaError | None, _message: Message | None) -> None:
        if error is None:
            pending.answer(index, _STORED)
            return
        outcome = Outcome.REJECTED if error.code() in REJECTED_CODES else Outcome.UNAVAILABLE
        pending.answer(index, Answer(outcome, error.str()))
        self._on_error(error)

    def _on_error(self, error: KafkaError) -> None:
        """Called in the polling thread. After a fatal error, librdkafka's producer never sends anything again."""
        self._is_broken |= error.fatal()
        self._log.error(f"Kafka: {error.str()}")

    def _poll(self) -> None:
        while not self._is_stopping:
            self._producer.poll(_POLL_S)


class _Pending:
    """The records of one request that are in flight. Answers come from the polling thread."""

    def __init__(self, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._answers: list[Answer] = [_STORED] * count
        self._left = count
        self._lock = threading.Lock()
        self.future: asyncio.Future[list[Answer]] = self._loop.create_future()
        if not count:
            self.future.set_result([])

    def answer(self, index: int, answer: Answer) -> None:
        """What became of one record."""
        with self._lock:
            self._answers[index] = answer
            self._left -= 1
            if self._left:
                return
        self._loop.call_soon_threadsafe(self._finish)

    def _finish(self) -> None:
        if not self.future.done():
            self.future.set_result(self._answers)
