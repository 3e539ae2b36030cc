"""Events to a Kafka topic, by librdkafka."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.frames import SpooledRecord, decode_headers
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import SpoolEntry
from lineproof.producers.transports.base import DeliveryResult, DeliveryStatus, EndpointUnavailable
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
    # librdkafka retries forever, but queues little: the rest waits in the spool.
    "message.timeout.ms": 0,
    "queue.buffering.max.messages": 1_000,
    "queue.buffering.max.kbytes": 64 * 1024,
    # Notice within seconds that a broker is back, or that a topic does not exist.
    "reconnect.backoff.max.ms": 2_000,
    "topic.metadata.propagation.max.ms": 5_000,
    # Closed idle connections are not an error.
    "log.connection.close": False,
    "log_level": 0,
}

MAX_SPOOL_BYTES = 2**30
_BATCH_COUNT = "batch.num.messages"

REJECTED_CODES = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.INVALID_RECORD,
        KafkaError.INVALID_TIMESTAMP,
        KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    }
)
"""Errors of a single record that a retry does not fix. All other errors are retried."""


class InvalidKafkaOptions(LineproofError):
    """A topic or options with which no event can be sent."""


class KafkaSender:
    """Idempotent, compressed, batched delivery to one topic.

    A topic may refuse a batch because of its size, although it accepts each record. Then all later senders that share
    the options send records one by one.
    """

    def __init__(self, options: dict[str, Any], topic: str, registry: Registry | None = None) -> None:
        self._options = options
        self._topic = topic
        self._registry = registry
        self._results: list[DeliveryResult] = []
        try:
            self._producer = Producer({**options, "error_cb": self._on_error})
        except KafkaException as error:
            raise InvalidKafkaOptions(
                f"The Kafka options are not valid: {error.args[0].str()}.", "Correct the options under `kafka`."
            ) from error
        self._is_batching = int(options.get(_BATCH_COUNT, 0)) != 1

    def send(self, record: SpooledRecord, entry: SpoolEntry) -> bool:
        """Take a record for delivery. Returns False if the local queue is full. Raises if the registry is down."""
        value = framed(record.value, self._topic, self._registry)
        on_delivery = partial(self._on_delivery, entry)
        headers: Any = decode_headers(record.headers) or None
        try:
            self._producer.produce(self._topic, value, record.key, on_delivery=on_delivery, headers=headers)
        except BufferError:
            return False
        except KafkaException as error:
            self._on_delivery(entry, error.args[0], None)
        return True

    def poll(self, timeout_s: float) -> list[DeliveryResult]:
        """The results since the last call."""
        self._producer.poll(timeout_s)
        results, self._results = self._results, []
        return results

    def confirm(self, timeout_s: float) -> None:
        """Look up the topic, and the schema in the registry if there is one."""
        try:
            topic = self._producer.list_topics(self._topic, timeout_s).topics[self._topic]
        except KafkaException as error:
            raise EndpointUnavailable(
                f"The Kafka brokers do not answer: {error.args[0].str()}.",
                "Check that the brokers run, and the `kafka` options.",
            ) from error
        if topic.error is not None:
            raise EndpointUnavailable(
                f"The topic {self._topic} cannot be used: {topic.error.str()}.", "Create it, or ask for access to it."
            )
        if self._registry:
            try:
                self._registry.register(self._topic, newest("envelope"))
            except RegistryUnavailable as error:
                raise EndpointUnavailable(error.what, error.remedy) from error

    def close(self) -> None:
        """Drop the records in flight."""
        self._producer.purge()
        del self._producer

    def _on_delivery(self, entry: SpoolEntry, error: KafkaError | None, _message: Message | None) -> None:
        if error is None:
            self._results.append(DeliveryResult(DeliveryStatus.DELIVERED, entry))
        else:
            self._results.append(DeliveryResult(self._status(error, entry), entry, error.str()))

    def _status(self, error: KafkaError, entry: SpoolEntry) -> DeliveryStatus:
        if error.code() not in REJECTED_CODES:
            return DeliveryStatus.RETRY
        was_alone = not self._is_batching or entry.size >= int(self._options["batch.size"])
        if error.code() == KafkaError.MSG_SIZE_TOO_LARGE and not was_alone:
            self._options[_BATCH_COUNT] = 1
            return DeliveryStatus.RETRY
        return DeliveryStatus.REJECTED

    def _on_error(self, error: KafkaError) -> None:
        self._results.append(DeliveryResult(DeliveryStatus.ENDPOINT_ERROR, None, error.str()))


def framed(value: bytes, topic: str, registry: Registry | None) -> bytes:
    """The value with the registry's schema id instead of the fingerprint that `Envelope.encode` writes.

    The registry is asked here, in the worker thread: a publish must not wait for it.
    """
    if registry is None:
        return value
    for schema in WRITER_SCHEMAS.values():
        if value.startswith(header := schema.header()):
            return schema.header(registry.register(topic, schema)) + value[len(header) :]
    return value


def kafka_transport(
    options: Mapping[str, str],
    topic: str,
    spool: Path,
    max_spool_bytes: int = MAX_SPOOL_BYTES,
    registry: Registry | None = None,
) -> Delivery:
    """Deliver to a topic. Events wait in a subdirectory of `spool` with the topic's name.

    With a schema registry, events use Confluent's framing.
    """
    if not re.fullmatch(r"[\w.-]{1,249}", topic, re.ASCII) or topic in {".", ".."}:
        raise InvalidKafkaOptions(
            f"{topic!r} is not a valid topic name.", "Use up to 249 letters, digits, dots, dashes and underscores."
        )
    if not options.get("bootstrap.servers"):
        raise InvalidKafkaOptions("The Kafka options name no broker.", "Set `bootstrap.servers` under `kafka`.")
    open_sender = partial(KafkaSender, {**DEFAULTS, **options}, topic, registry)
    open_sender().close()  # raises now if the options are not valid
    return Delivery(Spool(spool / topic, max_spool_bytes), open_sender)
