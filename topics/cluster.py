"""A Kafka cluster as lineproof's own processes use it: topics, offsets, and records sent as they are."""

import logging
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.record import Record

log = logging.getLogger(__name__)

_BY_KEY = -1
"""The partition number that lets the key choose the partition."""


class KafkaUnavailable(LineproofError):
    """The broker does not answer, the topic does not exist, or permission is denied."""


class KafkaCluster:
    """A client of one cluster. Its errors say what is wrong and what to do."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        self._address = options["bootstrap.servers"]
        self._errors: list[KafkaError] = []
        self._producer: Producer | None = None
        config: dict[str, Any] = {**options, "error_cb": self._errors.append, "log_level": 0}
        try:
            self._admin = AdminClient(config)
        except KafkaException as error:
            raise KafkaUnavailable(
                f"The Kafka options are not valid: {error.args[0].str()}", "Correct them under `kafka`."
            ) from error

    def topics(self, timeout_s: float = 5) -> dict[str, int]:
        """The number of partitions of every topic."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                metadata = self._admin.list_topics(timeout=1)
            except KafkaException as error:
                self._admin.poll(0)  # lets the client report its errors
                if time.monotonic() > deadline or self._is_hopeless():
                    raise self._explained(error) from error
            else:
                return {name: len(topic.partitions) for name, topic in metadata.topics.items()}

    def _is_hopeless(self) -> bool:
        return any(error.code() in (KafkaError._AUTHENTICATION, KafkaError._SSL) for error in self._errors)

    def offsets(self, topic: str, timeout_s: float = 10) -> dict[int, tuple[int, int]]:
        """First and next offset of every partition of a topic."""
        partitions = [TopicPartition(topic, number) for number in range(self.topics().get(topic, 0))]

        def list_offsets(spec: OffsetSpec) -> list[int]:
            if not partitions:
                return []
            futures = self._admin.list_offsets(dict.fromkeys(partitions, spec), request_timeout=timeout_s)
            return [futures[partition].result().offset for partition in partitions]

        begins = list_offsets(OffsetSpec.earliest())  # type: ignore[no-untyped-call]
        ends = list_offsets(OffsetSpec.latest())  # type: ignore[no-untyped-call]
        bounds = zip(begins, ends, strict=True)
        return {partition.partition: pair for partition, pair in zip(partitions, bounds, strict=True)}

    def offsets_at(self, topic: str, milliseconds: int, timeout_s: float = 10) -> dict[int, int]:
        """The first offset at or after a time, of every partition that has one."""
        partitions = [TopicPartition(topic, number) for number in range(self.topics().get(topic, 0))]
        spec = OffsetSpec.for_timestamp(milliseconds)
        futures = self._admin.list_offsets(dict.fromkeys(partitions, spec), request_timeout=timeout_s)
        found = {partition.partition: future.result().offset for partition, future in futures.items()}
        return {partition: offset for partition, offset in found.items() if offset >= 0}

    def topic_id(self, topic: str, timeout_s: float = 10) -> str:
        """The id of a topic, which is new each time it is created; empty where the broker gives none."""
        described = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)
        try:
            found = described[topic].result().topic_id
        except KafkaException as error:
            raise KafkaUnavailable(
                f"The broker at {self._address} does not describe the topic {topic}: {error.args[0].str()}",
                "Create the topic, or grant DESCRIBE on it.",
            ) from error
        return str(found) if found.get_most_significant_bits() or found.get_least_significant_bits() else ""

    def max_message_bytes(self, *topics: str, timeout_s: float = 10) -> dict[str, int]:
        """The size of the largest record batch by topic, without topics that this user may not describe."""
        resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
        found = {}
        for resource, future in self._admin.describe_configs(resources, request_timeout=timeout_s).items():
            try:
                found[resource.name] = int(future.result()["max.message.bytes"].value)
            except KafkaException as error:
                log.warning("The broker does not describe the topic %s: %s", resource.name, error.args[0].str())
        return found

    def require_topics(self, *names: str) -> None:
        """Refuse to continue if one of these topics does not exist."""
        existing = self.topics()
        if missing := [name for name in names if name not in existing]:
            raise KafkaUnavailable(
                f"The broker at {self._address} has no topic {', '.join(missing)}.",
                "Create it, start the job with --create-topics, or set topics.… to empty where nothing is published.",
            )

    def send(self, topic: str, records: Iterable[Record], timeout_s: float = 60) -> None:
        """Send records as they are, in order, and wait until the broker has them. Events go through an emitter."""
        if self._producer is None:
            fixed = {"message.max.bytes": MAX_RECORD_BYTES, "log_level": 0}
            # Otherwise a record that is retried after an error could be overtaken by later records.
            self._producer = Producer({"enable.idempotence": True, **self._options, **fixed})
        refused: list[KafkaError] = []

        def delivered(error: KafkaError | None, _message: Message) -> None:
            if error:
                refused.append(error)

        for record in records:
            partition = _BY_KEY if record.partition is None else record.partition
            headers: Any = list(record.headers) or None
            produce = partial(
                self._producer.produce, topic, record.value, record.key, partition, delivered, headers=headers
            )
            try:
                produce()
            except BufferError:  # the producer's queue is full
                self._producer.flush(timeout_s)
                produce()
            self._producer.poll(0)
        pending = self._producer.flush(timeout_s)
        if pending or refused:
            why = f": {refused[0].str()}" if refused else f" within {timeout_s:.0f} s"
            raise KafkaUnavailable(
                f"{pending + len(refused)} records were not delivered to {topic}{why}.",
                "Check the broker and the topic.",
            )

    def create_topics(
        self, names: list[str], partitions: int, replication_factor: int, *, compacted: bool = False
    ) -> list[str]:
        """Create the topics that do not exist, wait until the broker has them, and return their names.

        The broker sets the timestamps: a producer with a wrong clock does not decide when its records expire.
        """
        existing = self.topics()
        config = {
            "max.message.bytes": str(MAX_RECORD_BYTES),
            "message.timestamp.type": "LogAppendTime",
            **({"cleanup.policy": "compact"} if compacted else {}),
        }
        new = [NewTopic(name, partitions, replication_factor, config=config) for name in names if name not in existing]
        if not new:
            return []
        for name, future in self._admin.create_topics(new).items():
            try:
                future.result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise KafkaUnavailable(
                        f"The topic {name} cannot be created: {error.args[0].str()}", "Create it with Kafka's tools."
                    ) from error
        self._await_topics({topic.topic for topic in new})
        return [topic.topic for topic in new]

    def _await_topics(self, names: set[str], timeout_s: float = 10) -> None:
        """A broker learns of a new topic a moment after the controller has created it."""
        deadline = time.monotonic() + timeout_s
        while not names <= self.topics().keys() and time.monotonic() < deadline:
            time.sleep(0.05)

    def _explained(self, error: KafkaException) -> KafkaUnavailable:
        codes = {cause.code() for cause in self._errors}
        if KafkaError._AUTHENTICATION in codes:
            return KafkaUnavailable(
                f"The broker at {self._address} refused the credentials.",
                "Check security.protocol, sasl.mechanism, sasl.username and sasl.password under `kafka`, or the client "
                "certificate, or the OAuth client.",
            )
        if KafkaError._SSL in codes:
            return KafkaUnavailable(
                f"TLS with the broker at {self._address} failed: {self._errors[-1].str()}",
                "Check security.protocol, ssl.ca.location, ssl.certificate.location and ssl.key.location.",
            )
        cause = self._errors[0].str() if self._errors else error.args[0].str()
        return KafkaUnavailable(
            f"The broker at {self._address} does not answer: {cause}",
            "Check that it runs and that kafka.bootstrap.servers names it.",
        )
