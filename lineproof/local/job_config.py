"""From settings to the configuration of the job."""

from dataclasses import dataclass

from lineproof.local.endpoints import client_options, registry_of
from lineproof.local.job_topics import published_topics
from lineproof.schemas.avro import newest
from lineproof.settings import Settings
from lineproof.streaming.config import CurateConfig, IngestConfig, JobConfig, PublishConfig, Target
from lineproof.streaming.stages.publish import SCHEMAS
from lineproof.topics.cluster import spark_options


@dataclass(frozen=True)
class Recovery:
    """What the user allows the job to do after a refusal (docs/recovery.md). Not a setting: valid for one start."""

    accept_loss: int | None = None
    restore_checkpoint: bool = False


NO_RECOVERY = Recovery()


def job_config(settings: Settings, recovery: Recovery = NO_RECOVERY) -> JobConfig:
    """The configuration of the job. Schema ids come from the schema registry, where there is one."""
    registry = registry_of(settings)

    def target(topic: str, schema_name: str) -> Target:
        schema = newest(schema_name)
        return Target(topic, schema.header(registry.register(topic, schema) if registry else None))

    kafka = spark_options(client_options(settings))
    ingest = IngestConfig(
        kafka=kafka,
        topic=settings.topics.events,
        tables=settings.tables_path,
        checkpoints=settings.checkpoints_path,
        trigger=settings.spark_trigger,
        max_offsets_per_trigger=settings.max_offsets_per_trigger,
        accept_loss=recovery.accept_loss,
        restore_checkpoint=recovery.restore_checkpoint,
    )
    publish = PublishConfig(
        kafka=kafka,
        dead_letter_topic=settings.topics.dead_letters,
        targets={kind: target(topic, SCHEMAS[kind]) for kind, topic in published_topics(settings).items()},
    )
    curate = CurateConfig(
        tables=settings.tables_path,
        checkpoints=settings.checkpoints_path,
        trigger=settings.spark_trigger,
        graph_trigger=settings.spark_graph_trigger,
        schema_ids=schema_ids(settings),
        is_strict=settings.tolerance == "strict",
        batch_timeout_s=settings.batch_timeout.seconds,
        publish=publish,
        limits=settings.limits.limits(),
    )
    return JobConfig(ingest, curate, settings.stalled_after.seconds)


def schema_ids(settings: Settings) -> dict[int, int]:
    """The version of the envelope by schema id, from the registry and from the setting `schema_ids`."""
    registry = registry_of(settings)
    registered = registry.envelope_ids(settings.topics.events) if registry else {}
    return {**registered, **settings.schema_ids}
