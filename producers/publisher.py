"""Delivery to Kafka."""

import logging
import time
from collections.abc import Mapping
from typing import Any, Protocol

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.schemas.errors import LineproofError

log = logging.getLogger(__name__)

DEFAULTS: dict[str, Any] = {
    "enable.idempotence": True,
    "compression.type": "zstd",
    "linger.ms": 20,
    "message.max.bytes": MAX_RECORD_BYTES,
    "log_level": 0,
}


class DeliveryFailed(LineproofError):
    """Records that the broker did not take."""


class Publisher(Protocol):
    """What an emitter needs of a transport."""

    def publish(self, key: bytes | None, value: bytes | None) -> None:
        """Take one record for delivery."""

    def flush(self, timeout_s: float) -> None:
        """Wait until every record taken is delivered, or say which were not."""


class KafkaPublisher:
    """Idempotent, compressed, batched delivery to one topic."""

    def __init__(self, options: Mapping[str, str], topic: str) -> None:
        self._topic = topic
        self._taken = 0
        self._delivered = 0
        self._failures: list[KafkaError] = []
        try:
            self._producer = Producer({**DEFAULTS, **options, "error_cb": self._on_error})
        except KafkaException as error:
            raise DeliveryFailed(
                f"The Kafka options are not valid: {error.args[0].str()}", "Correct them under `kafka`."
            ) from error

    def publish(self, key: bytes | None, value: bytes | None) -> None:
        """Take one record for delivery; wait for room when the local queue is full."""
        while True:
            try:
                self._producer.produce(self._topic, key=key, value=value, on_delivery=self._on_delivery)
                break
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                raise DeliveryFailed(
                    f"The record cannot be sent to {self._topic}: {error.args[0].str()}",
                    "Records of up to 20 MiB can be sent; make the event smaller.",
                ) from error
        self._taken += 1
        self._producer.poll(0)

    def flush(self, timeout_s: float) -> None:
        """Wait until every record taken is delivered, or raise with how many were not, and why."""
        deadline = time.monotonic() + timeout_s
        while self._producer.flush(1) and time.monotonic() < deadline:
            continue
        if self._delivered < self._taken:
            cause = self._failures[-1].str() if self._failures else "no answer in time"
            raise DeliveryFailed(
                f"{self._taken - self._delivered} of {self._taken} records were not delivered to "
                f"{self._topic}: {cause}.",
                "Check that the broker runs and the topic exists, then send them again: what arrived twice "
                "counts once.",
            )

    def _on_delivery(self, error: KafkaError | None, _message: Message) -> None:
        if error is None:
            self._delivered += 1
        else:
            self._failures.append(error)

    def _on_error(self, error: KafkaError) -> None:
        log.warning("Kafka: %s", error.str())
        self._failures.append(error)
