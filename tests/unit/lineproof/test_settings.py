"""Settings: precedence, variables in files, errors, renamed settings and masking."""

from pathlib import Path

import pytest

from lineproof.producers.naming import InvalidName
from lineproof.schemas.durations import Duration
from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.settings import Settings, SettingsError, load
from lineproof.settings.model import OPTIONS, SECTIONS
from lineproof.settings.sections import QualitySettings, Section


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(text: str) -> Path:
    file = Path("settings.yaml")
    file.write_text(text)
    return file


def test_command_line_beats_environment_beats_file_beats_default() -> None:
    file = written("trigger: 20s\nmax_offsets_per_trigger: 5\ntopics: {events: from-file}\n")
    environ = {"LINEPROOF_TRIGGER": "30s", "LINEPROOF_TOPICS_EVENTS": "from-environment"}
    settings = load(file, ["trigger=40s"], environ)
    assert settings.trigger == "40s"
    assert settings.topics.events == "from-environment"
    assert settings.max_offsets_per_trigger == 5
    assert settings.topics.dead_letters == "lineage.dead-letters"


def test_the_file_is_named_by_a_variable_or_found_in_the_working_directory() -> None:
    file = written("trigger: 20s")
    assert load(None, (), {"LINEPROOF_CONFIG": str(file)}).trigger == "20s"
    file.rename("lineproof.yaml")
    assert load(None, (), {}).trigger == "20s"


def test_kafka_and_spark_options_keep_their_names() -> None:
    file = written(
        "kafka:\n  bootstrap.servers: a:1\n  security: {protocol: SASL_SSL}\n  enable.idempotence: true\n"
        "spark:\n  spark.sql.shuffle.partitions: 8\nsource: {minPartitions: 8, fetchOffset.numRetries: 5}\n"
    )
    settings = load(file, ["spark.driver.memory=1g"], {"LINEPROOF_KAFKA_BOOTSTRAP_SERVERS": "b:2"})
    assert settings.kafka == {
        "bootstrap.servers": "b:2",
        "security.protocol": "SASL_SSL",
        "enable.idempotence": "true",
    }
    assert settings.spark == {"spark.sql.shuffle.partitions": "8", "spark.driver.memory": "1g"}
    assert settings.source == {"minPartitions": "8", "fetchOffset.numRetries": "5"}


def test_topics_are_a_name_or_a_list() -> None:
    file = written("topics: {events: [lineage.events, '^team-.*']}")
    topics = load(file, (), {}).topics
    assert (topics.event_topics.names, topics.event_topics.patterns) == (("lineage.events",), ("^team-.*",))
    assert load(file, (), {"LINEPROOF_TOPICS_EVENTS": "a, b"}).topics.event_topics.names == ("a", "b")


def test_openlineage_variables_are_read_and_ours_take_precedence() -> None:
    file = written("emitter: {product: from-file, transports: [console]}")
    environ = {
        "OPENLINEAGE_NAMESPACE": "from-openlineage",
        "OPENLINEAGE_URL": "http://backend:5000",
        "OPENLINEAGE_ENDPOINT": "events",
        "OPENLINEAGE_API_KEY": "s3cret",
        "OPENLINEAGE_DISABLED": "True",
    }
    emitter = load(file, (), environ).emitter
    assert (emitter.resolved_namespace(), emitter.transports) == ("from-openlineage", ["http"])
    assert (emitter.url, emitter.api_key, emitter.disabled) == ("http://backend:5000", "s3cret", True)
    assert emitter.endpoint == "events"
    ours = {"LINEPROOF_EMITTER_NAMESPACE": "ours", "LINEPROOF_EMITTER_TRANSPORTS": "kafka, file"}
    settings = load(file, ["emitter.disabled=false"], {**environ, **ours})
    assert settings.emitter.resolved_namespace() == "ours"
    assert settings.emitter.transports == ["kafka", "file"]
    assert not settings.emitter.disabled
    assert "s3cret" not in repr(settings)
    assert load(file, (), {}).emitter.transports == ["console"]


@pytest.mark.parametrize(
    ("emitter", "namespace"),
    [
        ("{product: impact}", "impact"),
        ("{namespace_mode: centralized, product: impact}", "impact"),
        ("{namespace_mode: data_mesh, domain: social, product: impact}", "social.impact"),
        ("{namespace_mode: data_mesh, namespace: social.impact}", "social.impact"),
    ],
)
def test_namespace_modes(emitter: str, namespace: str) -> None:
    assert load(written(f"emitter: {emitter}"), (), {}).emitter.resolved_namespace() == namespace


@pytest.mark.parametrize(
    "emitter",
    [
        "{product: 'im pact'}",
        "{product: social.impact}",
        "{namespace_mode: data_mesh, product: impact}",
        "{product: impact, domain: social}",
        "{namespace: 'a/b'}",
        "{product: impact, transports: [pigeon]}",
        "{produkt: impact}",
    ],
)
def test_invalid_emitter_settings_are_refused_when_they_are_read(emitter: str) -> None:
    with pytest.raises(SettingsError, match="emitter"):
        load(written(f"emitter: {emitter}"), (), {})


def test_no_namespace_is_refused_when_it_is_needed() -> None:
    """A service that runs only the job needs no namespace."""
    with pytest.raises(InvalidName, match="product"):
        load(written("trigger: 10s"), (), {}).emitter.resolved_namespace()


def test_variables_in_files() -> None:
    file = written("# ${NOT_SET} in a comment is ignored\ntrigger: ${EVERY}\nhome: ${PLACE:-somewhere}\n")
    settings = load(file, (), {"EVERY": "3s"})
    assert (settings.trigger, settings.home) == ("3s", Path("somewhere"))
    with pytest.raises(SettingsError, match=r"\$\{EVERY\}, which is not set"):
        load(file, (), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("triger: 10s", "triger.*did you mean 'trigger'"),
        ("topics: {event: x}", "topics.event.*did you mean 'events'"),
        ("trigger: sometimes", "trigger: must be a duration such as 500ms, 10s or 5m, or available-now"),
        ("max_offsets_per_trigger: 0", "max_offsets_per_trigger.*greater than or equal to 1"),
        ("spark: {sql.shuffle.partitions: 2}", "did you mean 'spark.sql.shuffle.partitions'"),
        (
            "source: {maxoffsetspertrigger: 5}",
            "source: maxoffsetspertrigger is set by the job.*max_offsets_per_trigger",
        ),
        ("source: {startingOffsets: latest}", "source: startingOffsets is set by the job.*checkpoint"),
        ("source: {kafka.client.id: x}", "source: kafka.client.id.*under `kafka`"),
        ("kafka: {isolation.level: read_committed}", "kafka: isolation.level.*set isolation_level"),
        ("topics: {events: '^lineage.*'}", "events must not include lineage.dead-letters, lineage.quality"),
        ("topics: {events: [a, 'b c']}", "'b c' is not a topic name"),
        ("schema_ids: {7: 99}", "schema_ids.*version 99"),
        ("[1, 2]", "holds no settings"),
        ("a: [", "not valid YAML"),
    ],
)
def test_errors_in_a_file_name_the_setting(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"(?s){message}"):
        load(written(text), (), {})


def test_errors_in_variables_and_overrides_name_the_setting() -> None:
    with pytest.raises(SettingsError, match=r"LINEPROOF_TRIGGR sets nothing.*did you mean 'trigger'"):
        load(None, (), {"LINEPROOF_TRIGGR": "1s"})
    with pytest.raises(SettingsError, match="did you mean 'trigger'"):
        load(None, ["triger=1s"], {})
    with pytest.raises(SettingsError, match="has no value"):
        load(None, ["trigger"], {})
    with pytest.raises(SettingsError, match=r"missing.yaml cannot be read: No such file"):
        load(Path("missing.yaml"), (), {})


def test_secrets_are_masked() -> None:
    settings = Settings(
        kafka={"sasl.password": "hunter2", "sasl.jaas.config": "hunter2", "sasl.username": "u"},
        spark={"spark.hadoop.fs.s3a.secret.key": "hunter2", "spark.hadoop.fs.s3a.access.key": "hunter2"},
    )
    assert "hunter2" not in str(settings.masked())
    assert settings.masked()["kafka"]["sasl.username"] == "u"
    assert settings.masked()["emitter"]["api_key"] == ""
    assert load(None, ["emitter.api_key=hunter2"], {}).masked()["emitter"]["api_key"] == "******"
    assert "hunter2" not in repr(settings)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().trigger = Duration("1s")  # type: ignore[misc]


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [("10s", "10 seconds"), ("500ms", "500 milliseconds"), ("5m", "5 minutes"), ("available-now", "available-now")],
)
def test_triggers_as_spark_writes_them(trigger: str, expected: str) -> None:
    assert Settings(trigger=trigger).spark_trigger == expected


def test_the_packaged_file_holds_the_defaults() -> None:
    packaged = Path(__file__).parents[3] / "conf" / "lineproof.yaml"
    assert load(packaged, (), {}) == Settings()


def test_locations_are_uris_or_absolute_paths() -> None:
    assert Path(Settings().tables_path).is_absolute()
    assert Settings(tables="s3a://bucket/tables").tables_path == "s3a://bucket/tables"


def test_the_graph_has_its_own_trigger_unless_the_job_stops_when_it_has_caught_up() -> None:
    assert Settings(trigger="2s", graph_trigger="5m").spark_graph_trigger == "5 minutes"
    assert Settings(trigger="available-now", graph_trigger="5m").spark_graph_trigger == "available-now"
    with pytest.raises(ValueError, match="must be a duration"):
        Settings(graph_trigger="available-now")


def test_suites_run_at_an_interval_in_time_or_batches_or_never() -> None:
    never = Settings().quality
    assert (never.run_every_seconds, never.run_every_batches) == (None, None)
    by_time, by_batches = QualitySettings(run_every="15m"), QualitySettings(run_every="100 batches")
    assert (by_time.run_every_seconds, by_time.run_every_batches) == (900, None)
    assert (by_batches.run_every_seconds, by_batches.run_every_batches) == (None, 100)
    for wrong in ("available-now", "often", "0 batches", "15"):
        with pytest.raises(ValueError, match="must be a duration such as 15m, a number of batches"):
            QualitySettings(run_every=wrong)


@pytest.mark.parametrize(
    ("retention", "message"),
    [
        ("runs=100d", "runs must be kept at least as long as lineage_events"),
        ("vacuum_after=10m", "at least 1h"),
        ("archive=", "a number of days such as 395d, or never"),
        ("column_lineage=1y", "a number of days such as 395d, or never"),
        ("column_linage=1d", "did you mean 'column_lineage'"),
    ],
)
def test_harmful_retention_is_refused(retention: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load(None, [f"retention.{retention}"], {})


def test_retention_is_395_days_by_default_and_the_archive_is_kept() -> None:
    days = load(
        None, ["retention.runs=never", "retention.column_lineage=30 d"], {"LINEPROOF_RETENTION_ARCHIVE": "0"}
    ).retention
    assert days.days() == {
        **dict.fromkeys(("default", "lineage_events", "dataset_schemas", "quality_results"), 395),
        **{"runs": None, "archive": None, "column_lineage": 30},
    }


def test_limits_are_settings_and_have_their_defaults_in_one_place() -> None:
    assert Settings().limits.limits() == DEFAULT_LIMITS
    assert load(None, ["limits.symlinks=5"], {"LINEPROOF_LIMITS_JOBS": "7"}).limits.limits() == Limits(
        jobs=7, symlinks=5
    )
    with pytest.raises(SettingsError, match="greater than or equal to 1"):
        load(None, ["limits.facets=0"], {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lineage.product", "emitter.product"),
        ("compact_trigger", "maintenance.compact_every"),
        ("maintain_trigger", "maintenance.full_every"),
        ("quality_trigger", "quality.run_every"),
        ("suites", "quality.suites"),
        ("retention.files", "retention.vacuum_after"),
        ("retention.edges", "retention.column_lineage"),
    ],
)
def test_a_renamed_setting_is_refused_with_its_new_name(old: str, new: str) -> None:
    section, _, name = old.rpartition(".")
    file = written(f"{section}: {{{name}: 1h}}" if section else f"{name}: 1h")
    for named, overrides in ((file, []), (None, [f"{old}=1h"])):
        with pytest.raises(SettingsError, match=f"{old} was renamed to {new}"):
            load(named, overrides, {})
    old_variable, new_variable = (f"LINEPROOF_{text.replace('.', '_').upper()}" for text in (old, new))
    with pytest.raises(SettingsError, match=f"{old_variable} was renamed to {new_variable}"):
        load(None, (), {old_variable: "1h"})


def test_an_empty_renamed_section_is_refused() -> None:
    with pytest.raises(SettingsError, match="lineage was renamed to emitter"):
        load(written("lineage:"), (), {})


def test_every_setting_has_a_description() -> None:
    sections: list[type[Section]] = [Settings, *SECTIONS.values()]
    for section in sections:
        for name, field in section.model_fields.items():
            assert field.description, f"{section.__name__}.{name}"
            assert field.description.endswith("."), f"{section.__name__}.{name}"


def test_sections_are_derived_from_the_model() -> None:
    sections = {
        *("topics", "emitter", "plugins", "quality", "maintenance", "retention", "limits", "principals", "gateway"),
        *("freshness", "coverage"),
    }
    assert set(SECTIONS) == sections
    assert {"facets", "schema_registry", "schema_ids", "kafka", "source", "spark"} == OPTIONS
    empty = written("".join(f"{name}:\n" for name in (*SECTIONS, *OPTIONS)))
    assert load(empty, (), {}) == Settings()
