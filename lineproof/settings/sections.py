"""The sections of the settings, except options that are passed through to Kafka, Spark and the registry."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, field_validator, model_validator

from lineproof.producers.lineage_mode import LineageMode
from lineproof.producers.naming import InvalidName, NamespaceMode, check_namespace, namespace
from lineproof.producers.transports.config import ENDPOINT
from lineproof.schemas.durations import Duration
from lineproof.schemas.limits import Limits
from lineproof.schemas.principals import Principals
from lineproof.schemas.topic_names import TopicNames

_BATCHES = re.compile(r"(?P<number>[1-9]\d*)\s*batch(?:es)?")
_HOUR_S = 3_600
_DAY_S = 86_400


class Section(BaseModel):
    """Frozen, and a misspelled name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def duration_or(
    allowed: str, words: str | None = None, holds: Callable[[Duration], bool] = lambda _: True
) -> PlainValidator:
    """A duration for which `holds` is true, or a text that matches the pattern `words`. Errors say what is allowed."""

    def parse(value: object) -> str:
        text = str(value)
        if words is not None and re.fullmatch(words, text):
            return text
        try:
            duration = Duration(text)
        except ValueError as error:
            raise ValueError(f"must be {allowed}") from error
        if not holds(duration):
            raise ValueError(f"must be {allowed}")
        return duration

    return PlainValidator(parse, json_schema_input_type=str)


def split_commas(value: object) -> object:
    """A list from a text with commas: environment variables and --set have no lists."""
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value


def _is_whole_days(duration: Duration) -> bool:
    return duration.seconds >= _DAY_S and duration.seconds % _DAY_S == 0


_DAYS = "a number of days such as 395d, or never"

Interval = Annotated[Duration, duration_or("a duration such as 500ms, 10s or 5m")]
IntervalOrNow = Annotated[
    Duration | Literal["available-now"],
    duration_or("a duration such as 500ms, 10s or 5m, or available-now", "available-now"),
]
IntervalOrBatches = Annotated[
    Duration | str,
    duration_or(
        "a duration such as 15m, a number of batches such as `100 batches`, or empty for never",
        rf"|{_BATCHES.pattern}",
    ),
]
IntervalOrNever = Annotated[Duration | Literal[""], duration_or("a duration such as 1h or 7d, or empty for never", "")]
Days = Annotated[Duration | Literal["never", "0"], duration_or(_DAYS, "never|0", _is_whole_days)]
DaysOrDefault = Annotated[
    Duration | Literal["never", "0", ""],
    duration_or(f"{_DAYS}, or empty for the default", "never|0|", _is_whole_days),
]
FileAge = Annotated[
    Duration,
    duration_or(
        "a duration such as 7d, at least 1h: running queries may still read these files",
        holds=lambda duration: duration.seconds >= _HOUR_S,
    ),
]


class TopicSettings(Section):
    """The Kafka topics."""

    events: str = Field(
        "lineage.events",
        min_length=1,
        description="Topics that the job reads: names, and patterns that begin with `^`, as a list or separated by "
        "commas. Producers publish to the first one.",
    )
    dead_letters: str = Field(
        "lineage.dead-letters", description="Topic for copies of records that cannot be processed. Empty: none."
    )
    runs: str = Field("lineage.runs", description="Topic for runs that have ended. Empty: none.")
    violations: str = Field("lineage.violations", description="Topic for violations. Empty: none.")
    quality: str = Field("lineage.quality", description="Topic for results of quality tests. Empty: none.")
    partitions: int = Field(4, ge=1, description="Partitions of topics that `up` and `job --create-topics` create.")
    replication_factor: int = Field(
        1, ge=1, description="Replication factor of topics that `up` and `job --create-topics` create."
    )

    @field_validator("events", mode="before")
    @classmethod
    def _join_list(cls, value: object) -> object:
        return ",".join(map(str, value)) if isinstance(value, list | tuple) else value

    @model_validator(mode="after")
    def _valid_events(self) -> "TopicSettings":
        published = [self.dead_letters, self.runs, self.violations, self.quality]
        if own := self.event_topics.matching(filter(None, published)):
            raise ValueError(f"events must not include {', '.join(own)}: the job would read what it publishes")
        return self

    @property
    def event_topics(self) -> TopicNames:
        """The topics that the job reads."""
        return TopicNames.parse(self.events)


class EmitterSettings(Section):
    """The emitter: who emits, and where events go."""

    namespace_mode: NamespaceMode = Field(
        NamespaceMode.SIMPLE,
        description="How the namespace of jobs is built. `simple`, `centralized`: the product. "
        "`data_mesh`: `domain.product`.",
    )
    product: str = Field("", description="Data product that the jobs belong to.")
    domain: str = Field("", description="Domain of the product; for `data_mesh` only.")
    namespace: str = Field("", description="The whole namespace, instead of `product` and `domain`.")
    transports: list[Literal["kafka", "http", "backend", "console", "file"]] = Field(
        [],
        description="Where events go: one or more of `kafka`, `http`, `backend`, `console`, `file`. Empty: `backend` "
        "if a lineage backend is chosen (`plugins.lineage_backend`), else `kafka`.",
    )
    spool: str = Field(
        "", description="Directory where events wait until the endpoint accepts them. Default: `{home}/spool`."
    )
    spool_max_bytes: int = Field(2**30, ge=2**20, description="Maximum size of the spool in bytes.")
    file: str = Field("", description="File of the `file` transport (JSON lines). Default: `{home}/events.jsonl`.")
    url: str = Field("http://localhost:5000", description="Address of the OpenLineage backend of the `http` transport.")
    endpoint: str = Field(
        ENDPOINT,
        description="Path of the `http` transport. Batches go to the path `batch` below it, if the backend has that.",
    )
    api_key: str = Field("", description="Bearer token for the `http` transport.")
    ca_file: str = Field(
        "", description="PEM file of the CA that the `http` transport trusts. Default: the CAs of the system."
    )
    certificates: str = Field("", description="File of the certificate chain. Default: `{home}/certificates.jsonl`.")
    mode: LineageMode = Field(
        LineageMode.KEY_DERIVABLE,
        description="How much lineage an event carries: `FULL`, `KEY_DERIVABLE` or `SAMPLED`.",
    )
    telemetry_off: list[str] = Field(default_factory=list, description="Steps (morphisms) that are not measured.")
    strict: bool = Field(
        False, description="Raise an error where lineage is incomplete or invalid, instead of logging it."
    )
    disabled: bool = Field(False, description="Emit nothing.")

    @field_validator("transports", "telemetry_off", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        return split_commas(value)

    @model_validator(mode="after")
    def _valid_namespace(self) -> "EmitterSettings":
        if self.product or self.domain or self.namespace:
            try:
                self.resolved_namespace()
            except InvalidName as error:
                raise ValueError(f"{error.what} {error.remedy}") from error
        return self

    def resolved_namespace(self) -> str:
        """The namespace of every job. An error if none is set, or if it is not valid."""
        try:
            if self.namespace:
                return check_namespace(self.namespace, self.namespace_mode)
            return namespace(self.namespace_mode, self.product, self.domain or None)
        except InvalidName as error:
            settings = "emitter.namespace" if self.namespace else "emitter.product and emitter.domain"
            raise InvalidName(error.what, f"{error.remedy} It is set by {settings}.") from error


class LineageBackendSettings(Section):
    """The lineage backend that events are sent to: a plugin. Usually written in `manifest.yaml`."""

    provider: str = Field("", description="Name of an installed backend, such as `marquez`. Empty: none.")
    config: dict[str, Any] = Field(
        default_factory=dict, description="Options of the backend, such as `url` and `api_key`."
    )


class PluginSettings(Section):
    """Plugins."""

    lineage_backend: LineageBackendSettings = Field(
        LineageBackendSettings(), description="The lineage backend that events are sent to."
    )

    @model_validator(mode="before")
    @classmethod
    def _nested(cls, value: object) -> object:
        """The environment and --set name a setting by its path, such as `lineage_backend.config.url`."""
        if not isinstance(value, Mapping):
            return value
        merged: dict[str, Any] = {}
        for path, given in sorted(value.items()):  # `lineage_backend` itself comes first
            names = re.sub(r"^lineage_backend_", "lineage_backend.", path).split(".", 2)
            section = merged
            for name in names[:-1]:
                section[name] = dict(section.get(name) or {})
                section = section[name]
            section[names[-1]] = given
        return merged


class QualitySettings(Section):
    """Suites of expectations, and how often the running job runs them."""

    suites: str = Field("conf/suites", description="Directory of your own suites.")
    run_every: IntervalOrBatches = Field(
        "",
        description="How often the running job runs all suites: a duration such as `15m`, or a number of batches such "
        "as `100 batches`. Empty: never.",
    )

    @property
    def run_every_seconds(self) -> float | None:
        """The interval in seconds, if it is a duration."""
        return self.run_every.seconds if isinstance(self.run_every, Duration) else None

    @property
    def run_every_batches(self) -> int | None:
        """The interval in batches, if it is a number of batches."""
        match = _BATCHES.fullmatch(self.run_every)
        return int(match["number"]) if match else None


class MaintenanceSettings(Section):
    """How often the running job maintains its tables."""

    compact_every: IntervalOrNever = Field(
        Duration("1h"), description="How often the running job compacts small files. Empty: never."
    )
    full_every: IntervalOrNever = Field(
        Duration("7d"),
        description="How often the running job does all of `lineproof maintain`: also deletes old rows, clusters and "
        "vacuums. Empty: never.",
    )

    @property
    def compact_every_seconds(self) -> float | None:
        """Seconds between two compactions; None for never."""
        return self.compact_every.seconds if isinstance(self.compact_every, Duration) else None

    @property
    def full_every_seconds(self) -> float | None:
        """Seconds between two full maintenance runs; None for never."""
        return self.full_every.seconds if isinstance(self.full_every, Duration) else None


class RetentionSettings(Section):
    """How long rows are kept, by their event time: a number of days such as `395d`, or `never` to never delete them."""

    default: Days = Field(Duration("395d"), description="How long rows of every table without a value here are kept.")
    archive: Days = Field(
        "never",
        description="How long rows of `archive`, `records` and `dead_letters` are kept, by the day of archiving.",
    )
    lineage_events: DaysOrDefault = Field("", description="How long events are kept, by `event_time`.")
    runs: DaysOrDefault = Field(
        "", description="How long runs are kept, by `last_event_at`. Not shorter than `lineage_events`."
    )
    column_lineage: DaysOrDefault = Field(
        "", description="How long pairs of columns are kept after they were last seen."
    )
    dataset_schemas: DaysOrDefault = Field("", description="How long schemas are kept after they were last seen.")
    quality_results: DaysOrDefault = Field("", description="How long quality results are kept, by `event_time`.")
    vacuum_after: FileAge = Field(
        Duration("7d"), description="How long files stay on disk after a table stopped using them. At least `1h`."
    )

    @model_validator(mode="after")
    def _keep_the_run_of_every_event(self) -> "RetentionSettings":
        events, runs = (self.days()[name] or float("inf") for name in ("lineage_events", "runs"))
        if runs < events:
            raise ValueError("runs must be kept at least as long as lineage_events: every event has its run")
        return self

    def days(self) -> dict[str, int | None]:
        """For how many days rows are kept, by table; None for ever."""
        kept: dict[str, Any] = {name: value or self.default for name, value in self if name != "vacuum_after"}
        return {
            name: round(value.seconds / _DAY_S) if isinstance(value, Duration) else None for name, value in kept.items()
        }


class LimitSettings(Section):
    """The greatest numbers that tables keep of one event, run, job or dataset. Of what is over a limit, the smallest
    names are kept. Tables that are rebuilt with other limits can differ.
    """

    datasets: int = Field(Limits.datasets, ge=1, description="Inputs of an event or a run; and as many outputs.")
    jobs: int = Field(Limits.jobs, ge=1, description="Jobs that the events of one run name.")
    facets: int = Field(
        Limits.facets, ge=1, description="Facets of a job or a dataset, besides those that columns are made from."
    )
    columns: int = Field(
        Limits.columns,
        ge=1,
        description="Source columns in a `columnLineage` facet, once per target column; of more, the first.",
    )
    transformations: int = Field(
        Limits.transformations, ge=1, description="Transformations between one source column and one target column."
    )
    symlinks: int = Field(Limits.symlinks, ge=1, description="Other names of a dataset.")

    def limits(self) -> Limits:
        """As the job takes them."""
        return Limits(**self.model_dump())


class PrincipalSettings(Section):
    """Who sent a record, and what may be said by whom. Tables that are rebuilt with other rules can differ."""

    topics: dict[str, str] = Field(
        default_factory=dict,
        description="Principal of all records of a topic: by name, or by a pattern that begins with `^`. Records of "
        "other topics have the principal in their header `lineproof.principal`, which the gateway sets.",
    )
    namespaces: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Job namespaces that a principal is bound to: patterns such as `team-a.*`. `*` stands for all "
        "principals without an entry of their own, and for records without a principal.",
    )
    symlinks: list[str] = Field([], description="Principals whose `symlinks` facets count. Empty: everyone.")
    ownership: list[str] = Field([], description="Principals whose `ownership` facets count. Empty: everyone.")
    redrive: list[str] = Field([], description="Principals whose records can replace dead letters. Empty: everyone.")

    @field_validator("symlinks", "ownership", "redrive", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        return split_commas(value)

    @field_validator("topics")
    @classmethod
    def _valid_patterns(cls, value: dict[str, str]) -> dict[str, str]:
        for pattern in filter(lambda name: name.startswith("^"), value):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern} is not a regular expression: {error}") from error
        return value

    def principals(self) -> Principals:
        """As the job takes them."""
        return Principals(
            topics=tuple(self.topics.items()),
            namespaces=tuple((name, tuple(patterns)) for name, patterns in self.namespaces.items()),
            symlinks=tuple(self.symlinks),
            ownership=tuple(self.ownership),
            redrive=tuple(self.redrive),
        )
