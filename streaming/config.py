"""What the queries of the job need to know. The command line fills it from the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.schemas.principals import NO_PRINCIPALS, Principals
from lineproof.schemas.record import ReadRecords
from lineproof.schemas.topic_names import TopicNames

DEFAULT_MAX_RECORD_BYTES = 1_048_588
"""Kafka's default for `max.message.bytes` of a topic."""


@dataclass(frozen=True)
class IngestConfig:
    """Ingest: topics into the archive. Kafka options have the Java client's names, without a prefix."""

    kafka: Mapping[str, str] = field(repr=False)
    topics: TopicNames
    tables: str
    checkpoints: str
    trigger: str
    """How long records may wait for a batch, as in the settings: `10s`, or `available-now`."""
    max_offsets_per_trigger: int
    source: Mapping[str, str] = field(default_factory=dict)
    """Further options of Spark's Kafka source."""
    read_records: ReadRecords = field(default=lambda *_: iter(()), repr=False)
    """Reads records without Spark, where Spark cannot."""
    accept_loss: int | None = None
    """The batch whose records are given up if the topic no longer has them."""
    restore_checkpoint: bool = False
    """Whether a missing checkpoint is restored from the archive."""


@dataclass(frozen=True)
class Target:
    """A topic that curate publishes to."""

    topic: str
    header: bytes = b""
    """The bytes that its records begin with: the id of their schema."""
    max_bytes: int = DEFAULT_MAX_RECORD_BYTES
    """The size of the largest record that topic and producer accept."""


@dataclass(frozen=True)
class PublishConfig:
    """The topics that curate publishes to."""

    kafka: Mapping[str, str] = field(repr=False)
    dead_letters: Target | None = None
    """None: dead letters are only in their table."""
    targets: Mapping[str, Target] = field(default_factory=dict)
    """The topics for runs, violations and quality results. Those that are not listed are not published."""


@dataclass(frozen=True)
class CurateConfig:
    """Curate and graph: the archive into all other tables. They read no topic."""

    tables: str
    checkpoints: str
    trigger: str
    graph_trigger: str
    is_strict: bool = False
    """Whether a record with a defect that used to be fatal is a dead letter."""
    batch_timeout_s: float = 900.0
    """A batch that takes longer is cancelled, and the record is looked for that it fails on."""
    schema_ids: Mapping[int, int] = field(default_factory=dict)
    """The envelope's version by the schema registry's id."""
    publish: PublishConfig | None = None
    """None: nothing is published."""
    limits: Limits = DEFAULT_LIMITS
    """How much of one event, run, job or dataset is kept."""
    principals: Principals = NO_PRINCIPALS
    """Who sent a record, and what may be said by whom."""
    archive_root: str = ""
    """The directory of the archive, where it is not among the tables. It is read, and never written."""


@dataclass(frozen=True)
class JobConfig:
    """The whole job."""

    ingest: IngestConfig
    curate: CurateConfig
    stalled_after_s: float = 600
    """How long a batch may run before its query is reported as stalled."""


def kafka_options(kafka: Mapping[str, str]) -> dict[str, str]:
    """Options of the Java client as Spark's Kafka connector takes them."""
    return {f"kafka.{name}": value for name, value in kafka.items()}
