"""One frozen, typed object with all settings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_origin

from pydantic import Field, field_validator, model_validator

from lineproof.schemas.durations import AVAILABLE_NOW, Duration
from lineproof.schemas.envelope import WRITER_SCHEMAS
from lineproof.schemas.registry import InvalidRegistryOptions, check
from lineproof.settings.freshness import CoverageSettings, FreshnessSettings
from lineproof.settings.gateway import GatewaySettings
from lineproof.settings.kafka_source import check_source_options
from lineproof.settings.masking import mask_secrets
from lineproof.settings.sections import (
    EmitterSettings,
    Interval,
    IntervalOrNow,
    LimitSettings,
    MaintenanceSettings,
    PluginSettings,
    PrincipalSettings,
    QualitySettings,
    RetentionSettings,
    Section,
    TopicSettings,
)


class Settings(Section):
    """All settings. `kafka`, `source`, `spark` and `schema_registry` take options under their own names."""

    home: Path = Field(Path(".lineproof"), description="Directory for all local files: broker, tables, spool, logs.")
    tables: str = Field("", description="Directory or URI of the Delta tables. Default: `{home}/tables`.")
    checkpoints: str = Field("", description="Directory or URI of the checkpoints. Default: `{home}/checkpoints`.")
    topics: TopicSettings = Field(TopicSettings(), description="The Kafka topics.")
    emitter: EmitterSettings = Field(EmitterSettings(), description="The emitter: who emits, and where events go.")
    plugins: PluginSettings = Field(PluginSettings(), description="Plugins.")
    facets: dict[Literal["run", "job", "dataset", "input", "output"], dict[str, Path]] = Field(
        default_factory=dict, description="Your own facets: entity, then facet key, then the file of its JSON Schema."
    )
    trigger: IntervalOrNow = Field(
        Duration("10s"),
        description="How often the job reads new events, such as `10s`; or `available-now`: catch up and stop.",
    )
    graph_trigger: Interval = Field(
        Duration("1m"), description="How often jobs, datasets, schemas and lineage are updated."
    )
    tolerance: Literal["lenient", "strict"] = Field(
        "lenient",
        description="`lenient`: an event with a defect is used. `strict`: most defects make a dead letter of it.",
    )
    batch_timeout: Interval = Field(
        Duration("15m"),
        description="A batch that takes longer is cancelled, and the record that it fails on goes into quarantine.",
    )
    max_offsets_per_trigger: int = Field(
        200_000,
        ge=1,
        description="Maximum number of records in a batch. A full batch starts at once, without waiting for `trigger`.",
    )
    stalled_after: Interval = Field(
        Duration("10m"),
        description="How long a batch may run before its query is reported as stalled. Three times as long as the last "
        "batches is always allowed.",
    )
    isolation_level: Literal["read_uncommitted", "read_committed"] = Field(
        "read_uncommitted",
        description="Whether records of aborted and open transactions are read too. `read_committed`: only committed "
        "ones; an open transaction holds back all later records.",
    )
    source: dict[str, str] = Field(
        default_factory=dict, description="Options of Spark's Kafka source, such as `minPartitions`."
    )
    quality: QualitySettings = Field(QualitySettings(), description="Suites of expectations.")
    maintenance: MaintenanceSettings = Field(MaintenanceSettings(), description="Maintenance by the running job.")
    retention: RetentionSettings = Field(RetentionSettings(), description="How long rows and files are kept.")
    limits: LimitSettings = Field(LimitSettings(), description="How much of one event, run, job or dataset is kept.")
    principals: PrincipalSettings = Field(
        PrincipalSettings(), description="Who sent a record, and what may be said by whom."
    )
    freshness: FreshnessSettings = Field(FreshnessSettings(), description="How old datasets may be.")
    coverage: CoverageSettings = Field(CoverageSettings(), description="The pipelines whose lineage must be there.")
    gateway: GatewaySettings = Field(GatewaySettings(), description="The HTTP server of `lineproof serve`.")
    schema_registry: dict[str, str] = Field(
        default_factory=dict,
        description="Options of the schema registry, such as `url`. Empty: no registry; records carry the fingerprint "
        "of their schema.",
    )
    schema_ids: dict[int, int] = Field(
        default_factory=dict,
        description="Schema id to envelope version, for records of a registry that is no longer available.",
    )
    kafka: dict[str, str] = Field(
        default_factory=dict,
        description="Kafka client options, such as `bootstrap.servers`. Default broker: that of `lineproof up`.",
    )
    spark: dict[str, str] = Field(
        default_factory=dict, description="Spark options, such as `spark.sql.shuffle.partitions`."
    )

    @field_validator("kafka", "source", "spark", "schema_registry", mode="before")
    @classmethod
    def _flat_text(cls, value: object) -> object:
        return _flatten(value) if isinstance(value, Mapping) else value

    @field_validator("kafka")
    @classmethod
    def _no_isolation_level(cls, value: dict[str, str]) -> dict[str, str]:
        if "isolation.level" in value:
            raise ValueError("isolation.level is set by the job and by the commands: set isolation_level instead")
        return value

    @field_validator("spark")
    @classmethod
    def _spark_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not name.startswith("spark."):
                raise ValueError(f"Spark options begin with 'spark.'; did you mean 'spark.{name}'?")
        return value

    @field_validator("source")
    @classmethod
    def _free_source_options(cls, value: dict[str, str]) -> dict[str, str]:
        check_source_options(value)
        return value

    @field_validator("schema_registry")
    @classmethod
    def _usable_registry(cls, value: dict[str, str]) -> dict[str, str]:
        if value:
            try:
                check(value)
            except InvalidRegistryOptions as error:
                raise ValueError(f"{error.what} {error.remedy}") from error
        return value

    @field_validator("schema_ids")
    @classmethod
    def _known_versions(cls, value: dict[int, int]) -> dict[int, int]:
        for schema_id, version in value.items():
            if version not in WRITER_SCHEMAS:
                raise ValueError(f"id {schema_id} names envelope version {version}; known: {[*WRITER_SCHEMAS]}")
        return value

    @model_validator(mode="after")
    def _chosen_backend(self) -> "Settings":
        if "backend" in self.emitter.transports and not self.plugins.lineage_backend.provider:
            raise ValueError(
                "emitter.transports has backend, but no lineage backend is chosen: set plugins.lineage_backend.provider"
            )
        return self

    def with_product(self, product: str) -> "Settings":
        """The same settings, with `product` as the namespace if none is set."""
        if self.emitter.namespace or self.emitter.product:
            return self
        return self.model_copy(update={"emitter": self.emitter.model_copy(update={"product": product})})

    @property
    def tables_path(self) -> str:
        """Where the tables are: a URI, or an absolute path."""
        return _absolute(self.tables or str(self.home / "tables"))

    @property
    def checkpoints_path(self) -> str:
        """Where the checkpoints are: a URI, or an absolute path."""
        return _absolute(self.checkpoints or str(self.home / "checkpoints"))

    @property
    def transports(self) -> list[str]:
        """Where events go: as configured, else to the lineage backend if one is chosen, else to Kafka."""
        return [*self.emitter.transports] or ["backend" if self.plugins.lineage_backend.provider else "kafka"]

    @property
    def spool_path(self) -> Path:
        """The directory where events wait until they are delivered."""
        return Path(self.emitter.spool or self.home / "spool").absolute()

    @property
    def keys_path(self) -> Path:
        """The file of the API keys."""
        return Path(self.gateway.keys_file or self.home / "keys.json").absolute()

    @property
    def events_path(self) -> Path:
        """The file of the file transport."""
        return Path(self.emitter.file or self.home / "events.jsonl").absolute()

    @property
    def certificates_path(self) -> Path:
        """The file of the certificate chain."""
        return Path(self.emitter.certificates or self.home / "certificates.jsonl").absolute()

    @property
    def spark_trigger(self) -> str:
        """The trigger of ingest and curate, as Spark writes it."""
        return self.trigger if self.trigger == AVAILABLE_NOW else Duration(self.trigger).spark

    @property
    def spark_graph_trigger(self) -> str:
        """The trigger of the graph query. A job that stops when it has caught up stops with all of its queries."""
        return self.trigger if self.trigger == AVAILABLE_NOW else Duration(self.graph_trigger).spark

    def __repr_args__(self) -> Iterable[tuple[str, Any]]:
        """Masked, so that no log and no traceback shows a secret."""
        return self.masked().items()

    def masked(self) -> dict[str, Any]:
        """All settings, with secrets masked."""
        return mask_secrets(self.model_dump(mode="json"))


SECTIONS: dict[str, type[Section]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
}
"""The sections with a fixed list of settings, by name."""

OPTIONS = frozenset(name for name, field in Settings.model_fields.items() if get_origin(field.annotation) is dict)
"""The sections whose names are free: options of Kafka, Spark and the registry, facets, schema ids."""


def _flatten(options: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Options as flat text: YAML turns values into numbers and booleans, and people nest names with dots."""
    flat: dict[str, str] = {}
    for name, value in options.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = str(value).lower() if isinstance(value, bool) else str(value)
    return flat


def _absolute(location: str) -> str:
    return location if "://" in location else str(Path(location).absolute())
