"""From settings to the configuration of the job."""

from dataclasses import dataclass
from functools import partial

from lineproof.local.endpoints import client_options, registry_of, schema_ids
from lineproof.local.job_topics import largest_records, published_topics
from lineproof.schemas.avro import newest
from lineproof.settings import Settings
from lineproof.streaming.config import CurateConfig, IngestConfig, JobConfig, PublishConfig, Target
from lineproof.streaming.stages.publish import SCHEMAS
from lineproof.topics.java_options import spark_options
from lineproof.topics.records import read_records


@dataclass(frozen=True)
class Recovery:
    """What the user allows the job to do after a refusal (docs/recovery.md). Not a setting: valid for one start."""

    accept_loss: int | None = None
    restore_checkpoint: bool = False
    rebuild: bool = False


NO_RECOVERY = Recovery()


def job_config(settings: Settings, recovery: Recovery = NO_RECOVERY) -> JobConfig:
    """The configuration of the job. Schema ids come from the schema registry, where there is one."""
    client = client_options(settings)
    kafka = spark_options(client)
    ingest = IngestConfig(
        kafka=kafka,
        topics=settings.topics.event_topics,
        tables=settings.tables_path,
        checkpoints=settings.checkpoints_path,
        trigger=settings.trigger,
        max_offsets_per_trigger=settings.max_offsets_per_trigger,
        source={**settings.source, "kafka.isolation.level": settings.isolation_level},
        read_records=partial(read_records, client, isolation_level=settings.isolation_level),
        accept_loss=recovery.accept_loss,
        restore_checkpoint=recovery.restore_checkpoint,
    )
    curate = CurateConfig(
        tables=settings.tables_path,
        checkpoints=settings.checkpoints_path,
        trigger=settings.spark_trigger,
        graph_trigger=settings.spark_graph_trigger,
        schema_ids=schema_ids(settings),
        is_strict=settings.tolerance == "strict",
        batch_timeout_s=settings.batch_timeout.seconds,
        publish=publish_config(settings),
        limits=settings.limits.limits(),
        principals=settings.principals.principals(),
    )
    return JobConfig(ingest, curate, settings.stalled_after.seconds)


def publish_config(settings: Settings) -> PublishConfig | None:
    """The topics that are published to, each with the size of its largest record; None without a topic."""
    registry, topics, letters = registry_of(settings), published_topics(settings), settings.topics.dead_letters
    if not topics and not letters:
        return None
    largest = largest_records(settings, {*topics.values(), *([letters] if letters else [])})

    def target(topic: str, schema_name: str) -> Target:
        schema = newest(schema_name)
        return Target(topic, schema.header(registry.register(topic, schema) if registry else None), largest[topic])

    return PublishConfig(
        kafka=spark_options(client_options(settings)),
        dead_letters=Target(letters, max_bytes=largest[letters]) if letters else None,
        targets={kind: target(topic, SCHEMAS[kind]) for kind, topic in topics.items()},
    )
