"""One frozen, typed settings object: command line > environment > file > default."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from lineproof.producers.lineage_mode import LineageMode
from lineproof.producers.naming import InvalidName, NamespaceMode, check_namespace, namespace
from lineproof.schemas.envelope import WRITER_SCHEMAS
from lineproof.schemas.errors import LineproofError, nearest
from lineproof.schemas.registry import InvalidRegistryOptions, check
from lineproof.schemas.sanitise import is_secret_key

ENV_PREFIX = "LINEPROOF_"
CONFIG_VARIABLE = "LINEPROOF_CONFIG"
DEFAULT_FILE = Path("lineproof.yaml")
OTHER_VARIABLES = {CONFIG_VARIABLE, "LINEPROOF_JARS"}
"""Variables of ours that are not settings."""
SECTIONS = ("kafka", "spark", "topics", "lineage", "facets", "schema_ids", "schema_registry", "retention")

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_TRIGGER = re.compile(r"available-now|(?P<number>\d+)\s*(?P<unit>ms|s|m|h|d)")
_KEPT = re.compile(r"(?P<days>[1-9]\d*)\s*d|never|0")
_BATCHES = re.compile(r"(?P<number>[1-9]\d*)\s*batch(?:es)?")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class SettingsError(LineproofError):
    """The configuration cannot be used as it is."""

    exit_code = 2


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Topics(_Section):
    """The Kafka topics."""

    events: str = Field("lineage.events", min_length=1, description="where producers publish")
    dead_letters: str = Field(
        "lineage.dead-letters", description="where records that cannot be used are sent on; empty for nowhere"
    )
    runs: str = Field("lineage.runs", description="where runs that have ended are published; empty for nowhere")
    violations: str = Field("lineage.violations", description="where violations are published; empty for nowhere")
    quality: str = Field("lineage.quality", description="where results of tests are published; empty for nowhere")
    partitions: int = Field(4, ge=1, description="of the topics that --create-topics and `up` create")
    replication_factor: int = Field(1, ge=1, description="likewise")


class Lineage(_Section):
    """What the emitter does with a service's lineage."""

    namespace_mode: NamespaceMode = Field(NamespaceMode.SIMPLE, description="simple, centralized or data_mesh")
    product: str = Field("", description="the data product whose jobs emit; the namespace, or its second part")
    domain: str = Field("", description="data_mesh: the first part of the namespace")
    namespace: str = Field("", description="the whole namespace, instead of product and domain")
    transports: list[Literal["kafka", "http", "console", "file"]] = Field(["kafka"], description="where events go")
    spool: str = Field("", description="where events wait while an endpoint is away; default {home}/spool")
    spool_max_bytes: int = Field(2**30, ge=2**20, description="at most so much waits there")
    file: str = Field("", description="file transport: JSON lines; default {home}/events.jsonl")
    url: str = Field("http://localhost:5000", description="http transport: the backend")
    api_key: str = Field("", description="http transport: sent as a bearer token")
    certificates: str = Field("", description="the certificate chain; default {home}/certificates.jsonl")
    mode: LineageMode = Field(LineageMode.KEY_DERIVABLE, description="FULL, KEY_DERIVABLE or SAMPLED")
    telemetry_off: list[str] = Field(default_factory=list, description="morphisms that are not measured")
    strict: bool = Field(False, description="raise where lineage is incomplete or not valid")
    disabled: bool = Field(False, description="emit nothing")

    @field_validator("transports", "telemetry_off", mode="before")
    @classmethod
    def _list(cls, value: object) -> object:
        return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _valid_namespace(self) -> "Lineage":
        if self.product or self.domain or self.namespace:
            try:
                self.resolved_namespace()
            except InvalidName as error:
                raise ValueError(f"{error.what} {error.remedy}") from error
        return self

    def resolved_namespace(self) -> str:
        """The namespace of every job; refused where there is none or it is not valid."""
        try:
            if self.namespace:
                return check_namespace(self.namespace, self.namespace_mode)
            return namespace(self.namespace_mode, self.product, self.domain or None)
        except InvalidName as error:
            settings = "lineage.namespace" if self.namespace else "lineage.product and lineage.domain"
            raise InvalidName(error.what, f"{error.remedy} It is set by {settings}.") from error


class Retention(_Section):
    """After how long rows are deleted, by their event time: `395d`, or `never`. Empty: as `default` says."""

    default: str = Field("395d", description="of all tables that are not named here")
    archive: str = Field("never", description="also of records and dead_letters, by Kafka's timestamp")
    lineage_events: str = Field("", description="by event_time")
    runs: str = Field("", description="by last_event_at; as long as lineage_events, at least")
    edges: str = Field("", description="by when it was last seen")
    dataset_schemas: str = Field("", description="likewise")
    quality_results: str = Field("", description="by event_time")
    files: str = Field("7d", description="files that a table no longer has, for who still reads them; 1h at least")

    @field_validator("*")
    @classmethod
    def _known(cls, value: str, info: ValidationInfo) -> str:
        if info.field_name == "files":
            if (_seconds(value) or 0) < _SECONDS["h"]:
                raise ValueError("must be a time such as 7d, 1h at least: queries that are under way read these files")
        elif not _KEPT.fullmatch(value) and (value or info.field_name in ("default", "archive")):
            raise ValueError("must be a number of days such as 395d, or never")
        return value

    @model_validator(mode="after")
    def _runs_of_all_events(self) -> "Retention":
        events, runs = (self.days()[name] or float("inf") for name in ("lineage_events", "runs"))
        if runs < events:
            raise ValueError("runs must be kept as long as lineage_events, at least: every event has its run")
        return self

    def days(self) -> dict[str, int | None]:
        """For how many days rows are kept, by table; None for ever."""
        found = {name: _KEPT.fullmatch(value or self.default) for name, value in self if name != "files"}
        return {name: int(match["days"]) if match and match["days"] else None for name, match in found.items()}

    @property
    def files_seconds(self) -> float:
        """For how long files stay."""
        return _seconds(self.files) or 0


class Settings(_Section):
    """Everything that can be set. `kafka` and `spark` pass options through under their own names."""

    home: Path = Field(Path(".lineproof"), description="all that lineproof keeps on this machine")
    tables: str = Field("", description="directory or URI of the Delta tables; default {home}/tables")
    checkpoints: str = Field("", description="directory or URI of the checkpoints; default {home}/checkpoints")
    topics: Topics = Topics()
    lineage: Lineage = Lineage()
    facets: dict[Literal["run", "job", "dataset", "input", "output"], dict[str, Path]] = Field(
        default_factory=dict, description="facets of your own: entity to key to the file of its JSON Schema"
    )
    trigger: str = Field("10s", description="how often the job looks for new events, or available-now")
    graph_trigger: str = Field("1m", description="how often jobs, datasets and edges are brought up to date")
    max_offsets_per_trigger: int = Field(200_000, ge=1, description="at most so many records in one batch")
    quality_trigger: str = Field(
        "",
        description="how often the running job runs all suites: a time such as 15m, or `100 batches`; empty for never",
    )
    compact_trigger: str = Field("1h", description="how often the running job compacts its tables; empty for never")
    maintain_trigger: str = Field(
        "7d", description="how often it also deletes old rows, clusters and vacuums; empty for never"
    )
    retention: Retention = Retention()
    suites: str = Field("conf/suites", description="directory of your own suites, for `lineproof quality`")
    schema_ids: dict[int, int] = Field(
        default_factory=dict, description="schema id to envelope version, where no registry can be asked"
    )
    schema_registry: dict[str, str] = Field(
        default_factory=dict, description="options, such as url; empty for none: records then carry a fingerprint"
    )
    kafka: dict[str, str] = Field(default_factory=dict, description="client options, such as bootstrap.servers")
    spark: dict[str, str] = Field(default_factory=dict, description="options, such as spark.sql.shuffle.partitions")

    @field_validator("kafka", "spark", "schema_registry", mode="before")
    @classmethod
    def _flat_text(cls, value: object) -> object:
        return _flatten(value) if isinstance(value, Mapping) else value

    @field_validator("spark")
    @classmethod
    def _spark_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not name.startswith("spark."):
                raise ValueError(f"Spark options begin with 'spark.'; did you mean 'spark.{name}'?")
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

    @field_validator("trigger")
    @classmethod
    def _known_trigger(cls, value: str) -> str:
        if not _TRIGGER.fullmatch(value):
            raise ValueError("must be available-now, or a time such as 500ms, 10s, 5m")
        return value

    @field_validator("graph_trigger")
    @classmethod
    def _a_time(cls, value: str) -> str:
        if not _spark_time(value):
            raise ValueError("must be a time such as 500ms, 10s, 5m")
        return value

    @field_validator("quality_trigger")
    @classmethod
    def _a_time_or_batches(cls, value: str) -> str:
        if value and not _spark_time(value) and not _BATCHES.fullmatch(value):
            raise ValueError("must be a time such as 15m, a number of batches such as `100 batches`, or empty")
        return value

    @field_validator("compact_trigger", "maintain_trigger")
    @classmethod
    def _a_time_or_nothing(cls, value: str) -> str:
        if value and not _spark_time(value):
            raise ValueError("must be a time such as 1h or 7d, or empty")
        return value

    @field_validator("schema_ids")
    @classmethod
    def _known_versions(cls, value: dict[int, int]) -> dict[int, int]:
        for schema_id, version in value.items():
            if version not in WRITER_SCHEMAS:
                raise ValueError(f"id {schema_id} names envelope version {version}; known: {[*WRITER_SCHEMAS]}")
        return value

    def with_product(self, product: str) -> "Settings":
        """The settings, with a namespace for those who have not chosen one."""
        if self.lineage.namespace or self.lineage.product:
            return self
        return self.model_copy(update={"lineage": self.lineage.model_copy(update={"product": product})})

    @property
    def tables_path(self) -> str:
        """Where the tables are, absolute unless it is a URI."""
        return _absolute(self.tables or str(self.home / "tables"))

    @property
    def checkpoints_path(self) -> str:
        """Where the checkpoints are, absolute unless it is a URI."""
        return _absolute(self.checkpoints or str(self.home / "checkpoints"))

    @property
    def spool_path(self) -> Path:
        """Where events wait."""
        return Path(self.lineage.spool or self.home / "spool").absolute()

    @property
    def events_path(self) -> Path:
        """The file transport's file."""
        return Path(self.lineage.file or self.home / "events.jsonl").absolute()

    @property
    def certificates_path(self) -> Path:
        """The certificate chain."""
        return Path(self.lineage.certificates or self.home / "certificates.jsonl").absolute()

    @property
    def spark_trigger(self) -> str:
        """The trigger in Spark's words."""
        return _spark_time(self.trigger) or self.trigger

    @property
    def spark_graph_trigger(self) -> str:
        """The trigger of the graph likewise: a job that ends when it has caught up does so with all of its queries."""
        return _spark_time(self.graph_trigger) if _spark_time(self.trigger) else self.trigger

    @property
    def quality_batches(self) -> int | None:
        """After how many batches the suites are run, where it is counted in batches."""
        match = _BATCHES.fullmatch(self.quality_trigger)
        return int(match["number"]) if match else None

    @property
    def quality_seconds(self) -> float | None:
        """After how long the suites are run, where it is a time."""
        return _seconds(self.quality_trigger)

    @property
    def maintenance_seconds(self) -> dict[str, float | None]:
        """How often the running job compacts, and does all that is maintenance."""
        return {"compact": _seconds(self.compact_trigger), "all": _seconds(self.maintain_trigger)}

    def __repr_args__(self) -> Iterable[tuple[str, Any]]:
        """Masked, so that no log and no traceback shows a secret."""
        return self.masked().items()

    def masked(self) -> dict[str, Any]:
        """The settings as they may be printed."""
        shown = self.model_dump(mode="json")
        for section in ("kafka", "spark", "lineage", "schema_registry"):
            shown[section] = {name: mask(name, value) for name, value in shown[section].items()}
        return shown


def _seconds(trigger: str) -> float | None:
    """A time; None where the trigger is none."""
    match = _TRIGGER.fullmatch(trigger)
    return int(match["number"]) * _SECONDS[match["unit"]] if match and match["unit"] else None


def _spark_time(trigger: str) -> str:
    """A time in Spark's words; empty where the trigger is none."""
    match = _TRIGGER.fullmatch(trigger)
    return f"{match['number']} {_UNITS[match['unit']]}" if match and match["unit"] else ""


def mask(name: str, value: Any) -> Any:
    """A value as it may be printed."""
    return "******" if value and is_secret_key(name) else value


def load(file: Path | None = None, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings: `overrides` are `NAME=VALUE` texts from the command line, with dots into sections."""
    environ = os.environ if environ is None else environ
    named = file or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    layers = [
        _from_file(named or DEFAULT_FILE, environ) if named or DEFAULT_FILE.exists() else {},
        _from_openlineage_environment(environ),
        _from_environment(environ),
        _from_overrides(overrides),
    ]
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            both_are_sections = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
            merged[name] = {**merged[name], **value} if both_are_sections else value
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, item['loc']))}: {_message(item)}" for item in error.errors()]
        raise SettingsError(
            f"The configuration is not valid: {'; '.join(problems)}",
            "Correct it; conf/lineproof.yaml lists every setting.",
        ) from error


def _message(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        sections: dict[Any, type[BaseModel]] = {"topics": Topics, "lineage": Lineage, "retention": Retention}
        section = sections.get(item["loc"][0], Settings)
        return _did_you_mean(str(item["loc"][-1]), section.model_fields)
    return str(item["msg"]).removeprefix("Value error, ")


def _did_you_mean(name: str, known: Mapping[str, object]) -> str:
    meant = nearest(name, known)
    hint = f"did you mean '{meant}'?" if meant else f"there are {', '.join(known)}"
    return f"there is no such setting; {hint}"


def _from_file(file: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    try:
        document = yaml.safe_load(_interpolate(file.read_text(), file, environ)) or {}
    except OSError as error:
        raise SettingsError(
            f"The configuration file {file} cannot be read: {error.strerror}.", "Name another with --config."
        ) from error
    except yaml.YAMLError as error:
        raise SettingsError(f"The configuration file {file} is not valid YAML: {error}.", "Correct it.") from error
    if not isinstance(document, dict):
        raise SettingsError(f"The configuration file {file} holds no settings.", "Write `name: value` lines.")
    return {name: ({} if value is None and name in SECTIONS else value) for name, value in document.items()}


def _interpolate(text: str, file: Path, environ: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        found = environ.get(match["name"], match["default"])
        if found is None:
            raise SettingsError(
                f"The configuration file {file} uses ${{{match['name']}}}, which is not set.",
                f"Set the variable, or give a default: ${{{match['name']}:-…}}.",
            )
        return found

    lines = text.splitlines(keepends=True)
    return "".join(line if line.lstrip().startswith("#") else _VARIABLE.sub(value, line) for line in lines)


def _from_openlineage_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """What other OpenLineage tools honour; our own variables beat it."""
    names = {"OPENLINEAGE_NAMESPACE": "namespace", "OPENLINEAGE_URL": "url", "OPENLINEAGE_API_KEY": "api_key"}
    found: dict[str, Any] = {name: environ[variable] for variable, name in names.items() if environ.get(variable)}
    if "url" in found:
        found["transports"] = ["http"]
    if environ.get("OPENLINEAGE_DISABLED"):
        found["disabled"] = environ["OPENLINEAGE_DISABLED"].strip().lower() == "true"
    return {"lineage": found} if found else {}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """`LINEPROOF_TRIGGER`, `LINEPROOF_TOPICS_EVENTS`, `LINEPROOF_KAFKA_BOOTSTRAP_SERVERS`.

    Kafka's names, and a registry's, have dots and no underscores, so that one stands for the other. Spark's are
    case-sensitive and cannot be written so.
    """
    found: dict[str, Any] = {}
    for variable, value in environ.items():
        if not variable.startswith(ENV_PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(ENV_PREFIX).lower()
        section, _, option = name.partition("_")
        if name.startswith("schema_registry_"):
            found.setdefault("schema_registry", {})[name.removeprefix("schema_registry_").replace("_", ".")] = value
        elif section == "kafka" and option:
            found.setdefault("kafka", {})[option.replace("_", ".")] = value
        elif section in ("topics", "lineage", "retention") and option:
            found.setdefault(section, {})[option] = value
        elif name in Settings.model_fields and name not in SECTIONS:
            found[name] = value
        else:
            raise SettingsError(
                f"The variable {variable} sets nothing: {_did_you_mean(name, Settings.model_fields)}",
                "Correct or unset it. Spark options can be given in a file or by --set.",
            )
    return found


def _from_overrides(overrides: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for override in overrides:
        name, equals, value = override.partition("=")
        section, dot, option = name.partition(".")
        if not equals:
            raise SettingsError(f"--set {override} has no value.", "Write --set NAME=VALUE.")
        if section == "spark" and dot:
            found.setdefault("spark", {})[name] = value
        elif dot:
            found.setdefault(section, {})[option] = value
        else:
            found[name] = value
    return found


def _flatten(options: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Options as flat text: YAML makes numbers and booleans of values, and people nest what has dots."""
    flat: dict[str, str] = {}
    for name, value in options.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = str(value).lower() if isinstance(value, bool) else str(value)
    return flat


def _absolute(location: str) -> str:
    return location if "://" in location else str(Path(location).absolute())
