"""The topics that the job reads and writes, as the broker has them."""

from collections.abc import Collection

from lineproof.local.endpoints import client_options
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings
from lineproof.streaming.config import DEFAULT_MAX_RECORD_BYTES
from lineproof.streaming.recovery.topic import Topic
from lineproof.streaming.stages.publish import SCHEMAS
from lineproof.streaming.stages.record_size import SMALLEST_LIMIT
from lineproof.topics.cluster import KafkaCluster
from lineproof.topics.java_options import spark_options


class TopicTooSmall(LineproofError):
    """A topic that the job publishes to does not accept records of a useful size."""


def published_topics(settings: Settings) -> dict[str, str]:
    """The topics for subscribers, by what is published to them. An empty name publishes nothing."""
    topics = {kind: str(getattr(settings.topics, kind)) for kind in SCHEMAS}
    return {kind: topic for kind, topic in topics.items() if topic}


def prepare_topics(settings: Settings, create: bool) -> None:
    """Create missing topics if asked to; fail if one is still missing."""
    kafka = KafkaCluster(client_options(settings))
    names = [*settings.topics.event_topics.names, *filter(None, [settings.topics.dead_letters])]
    published = [*published_topics(settings).values()]
    if create:
        size = settings.topics.partitions, settings.topics.replication_factor
        kafka.create_topics(names, *size)
        kafka.create_topics(published, *size, compacted=True)
    kafka.require_topics(*names, *published)


def largest_records(settings: Settings, topics: Collection[str]) -> dict[str, int]:
    """The size of the largest record that each topic and the job's producer accept."""
    options = client_options(settings)
    limit = int(spark_options(options)["max.request.size"])
    described = KafkaCluster(options).max_message_bytes(*topics)
    limits = {topic: min(limit, described.get(topic, DEFAULT_MAX_RECORD_BYTES)) for topic in topics}
    for topic, size in limits.items():
        if size < SMALLEST_LIMIT:
            raise TopicTooSmall(
                f"Records sent to the topic {topic} may have {size} bytes, and the job needs {SMALLEST_LIMIT}.",
                "Raise max.message.bytes of the topic.",
            )
    return limits


def describe_topics(settings: Settings) -> list[Topic]:
    """The topics that ingest reads now, with their ids and offsets. A pattern may match none yet."""
    kafka, wanted = KafkaCluster(client_options(settings)), settings.topics.event_topics
    kafka.require_topics(*wanted.names)
    return [Topic(name, kafka.topic_id(name), kafka.offsets(name)) for name in wanted.matching(kafka.topics())]
