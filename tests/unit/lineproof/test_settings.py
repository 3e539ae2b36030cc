"""Priority, interpolation, refusal and masking (R27)."""

from pathlib import Path

import pytest

from lineproof.producers.naming import InvalidName
from lineproof.settings import Settings, SettingsError, load


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_file_can_be_named_by_variable_or_found_here() -> None:
    file = written("trigger: 20s")
    assert load(None, (), {"LINEPROOF_CONFIG": str(file)}).trigger == "20s"
    file.rename("lineproof.yaml")
    assert load(None, (), {}).trigger == "20s"


def test_kafka_and_spark_options_keep_their_names() -> None:
    file = written(
        "kafka:\n  bootstrap.servers: a:1\n  security: {protocol: SASL_SSL}\n  enable.idempotence: true\n"
        "spark:\n  spark.sql.shuffle.partitions: 8\n"
    )
    settings = load(file, ["spark.driver.memory=1g"], {"LINEPROOF_KAFKA_BOOTSTRAP_SERVERS": "b:2"})
    assert settings.kafka == {
        "bootstrap.servers": "b:2",
        "security.protocol": "SASL_SSL",
        "enable.idempotence": "true",
    }
    assert settings.spark == {"spark.sql.shuffle.partitions": "8", "spark.driver.memory": "1g"}


def test_openlineage_variables_are_honoured_and_ours_beat_them() -> None:
    """R27"""
    file = written("lineage: {product: from-file, transports: [console]}")
    environ = {
        "OPENLINEAGE_NAMESPACE": "from-openlineage",
        "OPENLINEAGE_URL": "http://backend:5000",
        "OPENLINEAGE_API_KEY": "s3cret",
        "OPENLINEAGE_DISABLED": "True",
    }
    lineage = load(file, (), environ).lineage
    assert (lineage.resolved_namespace(), lineage.transports) == ("from-openlineage", ["http"])
    assert (lineage.url, lineage.api_key, lineage.disabled) == ("http://backend:5000", "s3cret", True)
    ours = {"LINEPROOF_LINEAGE_NAMESPACE": "ours", "LINEPROOF_LINEAGE_TRANSPORTS": "kafka, file"}
    settings = load(file, ["lineage.disabled=false"], {**environ, **ours})
    assert settings.lineage.resolved_namespace() == "ours"
    assert settings.lineage.transports == ["kafka", "file"]
    assert not settings.lineage.disabled
    assert "s3cret" not in repr(settings)
    assert load(file, (), {}).lineage.transports == ["console"]


@pytest.mark.parametrize(
    ("lineage", "namespace"),
    [
        ("{product: impact}", "impact"),
        ("{namespace_mode: centralized, product: impact}", "impact"),
        ("{namespace_mode: data_mesh, domain: social, product: impact}", "social.impact"),
        ("{namespace_mode: data_mesh, namespace: social.impact}", "social.impact"),
    ],
)
def test_namespace_modes(lineage: str, namespace: str) -> None:
    """R14"""
    assert load(written(f"lineage: {lineage}"), (), {}).lineage.resolved_namespace() == namespace


@pytest.mark.parametrize(
    "lineage",
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
def test_lineage_that_is_not_valid_is_refused_when_it_is_read(lineage: str) -> None:
    """R14"""
    with pytest.raises(SettingsError, match="lineage"):
        load(written(f"lineage: {lineage}"), (), {})


def test_no_namespace_is_refused_when_it_is_needed() -> None:
    """R14, R26: a job alone needs none."""
    with pytest.raises(InvalidName, match="product"):
        load(written("trigger: 10s"), (), {}).lineage.resolved_namespace()


def test_variables_in_files() -> None:
    file = written("# ${NOT_SET} in a comment is no matter\ntrigger: ${EVERY}\nhome: ${PLACE:-somewhere}\n")
    settings = load(file, (), {"EVERY": "3s"})
    assert (settings.trigger, settings.home) == ("3s", Path("somewhere"))
    with pytest.raises(SettingsError, match=r"\$\{EVERY\}, which is not set"):
        load(file, (), {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("triger: 10s", "triger.*did you mean 'trigger'"),
        ("topics: {event: x}", "topics.event.*did you mean 'events'"),
        ("trigger: sometimes", "trigger: must be available-now, or a time"),
        ("max_offsets_per_trigger: 0", "max_offsets_per_trigger.*greater than or equal to 1"),
        ("spark: {sql.shuffle.partitions: 2}", "did you mean 'spark.sql.shuffle.partitions'"),
        ("schema_ids: {7: 99}", "schema_ids.*version 99"),
        ("[1, 2]", "holds no settings"),
        ("a: [", "not valid YAML"),
    ],
)
def test_bad_files_are_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=f"(?s){said}"):
        load(written(text), (), {})


def test_bad_variables_and_overrides_are_refused_by_name() -> None:
    with pytest.raises(SettingsError, match=r"LINEPROOF_TRIGGR sets nothing.*did you mean 'trigger'"):
        load(None, (), {"LINEPROOF_TRIGGR": "1s"})
    with pytest.raises(SettingsError, match="did you mean 'trigger'"):
        load(None, ["triger=1s"], {})
    with pytest.raises(SettingsError, match="has no value"):
        load(None, ["trigger"], {})
    with pytest.raises(SettingsError, match=r"missing.yaml cannot be read: No such file"):
        load(Path("missing.yaml"), (), {})


def test_secrets_are_masked_wherever_printed() -> None:
    settings = Settings(
        kafka={"sasl.password": "hunter2", "sasl.jaas.config": "hunter2", "sasl.username": "u"},
        spark={"spark.hadoop.fs.s3a.secret.key": "hunter2", "spark.hadoop.fs.s3a.access.key": "hunter2"},
    )
    assert "hunter2" not in str(settings.masked())
    assert settings.masked()["kafka"]["sasl.username"] == "u"
    assert "hunter2" not in repr(settings)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().trigger = "1s"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("trigger", "spark"),
    [("10s", "10 seconds"), ("500ms", "500 milliseconds"), ("5m", "5 minutes"), ("available-now", "available-now")],
)
def test_triggers_in_sparks_words(trigger: str, spark: str) -> None:
    assert Settings(trigger=trigger).spark_trigger == spark


def test_the_packaged_file_holds_the_defaults() -> None:
    packaged = Path(__file__).parents[3] / "conf" / "lineproof.yaml"
    assert load(packaged, (), {}) == Settings()


def test_locations_are_absolute_unless_uris() -> None:
    assert Path(Settings().tables_path).is_absolute()
    assert Settings(tables="s3a://bucket/tables").tables_path == "s3a://bucket/tables"


def test_the_graph_has_its_own_trigger_unless_the_job_ends_when_it_has_caught_up() -> None:
    assert Settings(trigger="2s", graph_trigger="5m").spark_graph_trigger == "5 minutes"
    assert Settings(trigger="available-now", graph_trigger="5m").spark_graph_trigger == "available-now"
    with pytest.raises(ValueError, match="must be a time"):
        Settings(graph_trigger="available-now")


def test_suites_run_beside_the_job_by_time_or_by_batches_or_not_at_all() -> None:
    assert (Settings().quality_seconds, Settings().quality_batches) == (None, None)
    by_time, by_batches = Settings(quality_trigger="15m"), Settings(quality_trigger="100 batches")
    assert (by_time.quality_seconds, by_time.quality_batches) == (900, None)
    assert (by_batches.quality_seconds, by_batches.quality_batches) == (None, 100)
    for wrong in ("available-now", "often", "0 batches", "15"):
        with pytest.raises(ValueError, match="must be a time such as 15m"):
            Settings(quality_trigger=wrong)


@pytest.mark.parametrize(
    ("retention", "said"),
    [
        ("runs=100d", "runs must be kept as long as lineage_events"),
        ("files=10m", "1h at least"),
        ("archive=", "a number of days such as 395d, or never"),
        ("edges=1y", "a number of days such as 395d, or never"),
        ("egdes=1d", "did you mean 'edges'"),
    ],
)
def test_retention_that_would_do_harm_is_refused(retention: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load(None, [f"retention.{retention}"], {})


def test_retention_is_395_days_unless_it_is_said_for_a_table_and_the_archive_is_kept() -> None:
    days = load(None, ["retention.runs=never", "retention.edges=30 d"], {"LINEPROOF_RETENTION_ARCHIVE": "0"}).retention
    assert days.days() == {
        **dict.fromkeys(("default", "lineage_events", "dataset_schemas", "quality_results"), 395),
        **{"runs": None, "archive": None, "edges": 30},
    }
