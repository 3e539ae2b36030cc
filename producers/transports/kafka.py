"""Events to a Kafka topic."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.frames import Record
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import Entry
from lineproof.producers.transports.base import EndpointUnavailable, Outcome, Verdict
from lineproof.schemas.avro import newest
from lineproof.schemas.envelope import MAX_RECORD_BYTES, WRITER_SCHEMAS
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.registry import Registry, RegistryUnavailable

DEFAULTS: dict[str, Any] = {
    "enable.idempotence": True,
    "compression.type": "zstd",
    "linger.ms": 20,
    "batch.size": 1_000_000,
    "message.max.bytes": MAX_RECORD_BYTES,
    # librdkafka keeps trying for ever what it has, and has little: the rest waits in the spool.
    "message.timeout.ms": 0,
    "queue.buffering.max.messages": 1_000,
    "queue.buffering.max.kbytes": 64 * 1024,
    # A broker that comes back, and a topic that does not exist, are noticed within seconds.
    "reconnect.backoff.max.ms": 2_000,
    "topic.metadata.propagation.max.ms": 5_000,
    # Connections that are closed because nobody uses them are no trouble.
    "log.connection.close": False,
    "log_level": 0,
}

MAX_SPOOL_BYTES = 2**30
_BATCH_COUNT = "batch.num.messages"

_NEVER = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.INVALID_RECORD,
        KafkaError.INVALID_TIMESTAMP,
        KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    }
)
"""Errors that are about one record and stay whatever is done; all others pass, once somebody sees to them."""


class InvalidKafkaOptions(LineproofError):
    """A topic or options with which no event could ever be sent."""


class KafkaSender:
    """Idempotent, compressed, batched delivery to one topic.

    A topic may refuse a batch for its size though it takes the records: then all later senders that share the options
    send one by one.
    """

    def __init__(self, options: dict[str, Any], topic: str, registry: Registry | None = None) -> None:
        self._options = options
        self._topic = topic
        self._registry = registry
        self._outcomes: list[Outcome] = []
        try:
            self._producer = Producer({**options, "error_cb": self._on_error})
        except KafkaException as error:
            raise InvalidKafkaOptions(
                f"The Kafka options are not valid: {error.args[0].str()}.", "Correct them under `kafka`."
            ) from error
        self._batches = int(options.get(_BATCH_COUNT, 0)) != 1

    def send(self, record: Record, entry: Entry) -> bool:
        """Take a record for delivery; False when the local queue is full. Raises where the registry does not answer."""
        value = self._framed(record.value)
        try:
            self._producer.produce(self._topic, value, record.key, on_delivery=partial(self._on_delivery, entry))
        except BufferError:
            return False
        except KafkaException as error:
            self._on_delivery(entry, error.args[0], None)
        return True

    def poll(self, timeout_s: float) -> list[Outcome]:
        """The outcomes since the last call."""
        self._producer.poll(timeout_s)
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def confirm(self, timeout_s: float) -> None:
        """Look the topic up."""
        try:
            topic = self._producer.list_topics(self._topic, timeout_s).topics[self._topic]
        except KafkaException as error:
            raise EndpointUnavailable(
                f"The Kafka brokers do not answer: {error.args[0].str()}.",
                "Check that they run, and the `kafka` options.",
            ) from error
        if topic.error is not None:
            raise EndpointUnavailable(
                f"The topic {self._topic} cannot be used: {topic.error.str()}.", "Create it, or ask for access to it."
            )
        if self._registry:
            try:
                self._registry.id_of(self._topic, newest("envelope"))
            except RegistryUnavailable as error:
                raise EndpointUnavailable(error.what, error.remedy) from error

    def close(self) -> None:
        """Drop what is under way."""
        self._producer.purge()
        del self._producer

    def _framed(self, value: bytes) -> bytes:
        """With the registry's id in the place of the fingerprint, which is what a record has in the spool.

        Only here is the registry asked: a publish must not wait for it.
        """
        if self._registry is None:
            return value
        for schema in WRITER_SCHEMAS.values():
            if value.startswith(header := schema.header()):
                return schema.header(self._registry.id_of(self._topic, schema)) + value[len(header) :]
        return value

    def _on_delivery(self, entry: Entry, error: KafkaError | None, _message: Message | None) -> None:
        if error is None:
            self._outcomes.append(Outcome(Verdict.DELIVERED, entry))
        else:
            self._outcomes.append(Outcome(self._verdict(error, entry), entry, error.str()))

    def _verdict(self, error: KafkaError, entry: Entry) -> Verdict:
        if error.code() not in _NEVER:
            return Verdict.RETRY
        was_alone = not self._batches or entry.size >= int(self._options["batch.size"])
        if error.code() == KafkaError.MSG_SIZE_TOO_LARGE and not was_alone:
            self._options[_BATCH_COUNT] = 1
            return Verdict.RETRY
        return Verdict.REJECTED

    def _on_error(self, error: KafkaError) -> None:
        self._outcomes.append(Outcome(Verdict.TROUBLE, None, error.str()))


def kafka_transport(
    options: Mapping[str, str],
    topic: str,
    spool: Path,
    max_spool_bytes: int = MAX_SPOOL_BYTES,
    registry: Registry | None = None,
) -> Delivery:
    """Delivery to a topic; `spool` is the directory where events wait, those of each topic in one of its own.

    With a schema registry, events have Confluent's framing.
    """
    if not re.fullmatch(r"[\w.-]{1,249}", topic, re.ASCII) or topic in {".", ".."}:
        raise InvalidKafkaOptions(
            f"{topic!r} cannot be a topic's name.", "Use up to 249 letters, digits, dots, dashes and underscores."
        )
    if not options.get("bootstrap.servers"):
        raise InvalidKafkaOptions("The Kafka options name no broker.", "Set `bootstrap.servers` among them.")
    open_sender = partial(KafkaSender, {**DEFAULTS, **options}, topic, registry)
    open_sender().close()  # so that options which are not valid are refused here and now
    return Delivery(Spool(spool / topic, max_spool_bytes), open_sender)
