"""Which archived records are replayed, and in which order (R48). Onto topics and into tables: tests/integration."""

import shutil
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from typer.testing import CliRunner

from lineproof.cli.main import app
from lineproof.schemas.registry import Registry
from lineproof.serving import archive, replay_tables
from lineproof.serving.archive import Archive, Selected
from lineproof.serving.delta_files import NoTable
from lineproof.serving.replay_plan import NothingSelected, Plan, load_plan, make_plan
from lineproof.serving.replay_tables import KEPT_IN, UnsuitableDirectory, plan_tables, replay_to_tables
from lineproof.serving.selection import NoSelection, Selection
from lineproof.settings import Settings
from lineproof.streaming.job import JobConfig
from tests.arrow import BYTES, COORDINATES
from tests.registry import running

BEGIN = datetime(2026, 1, 31, 23, 58, tzinfo=timezone.utc)
ARCHIVE = pa.schema([("day", pa.date32()), *COORDINATES, *BYTES])
RECORDS = pa.schema([*COORDINATES, ("event_id", pa.string()), ("run_id", pa.string())])
NAMES = pa.list_(pa.struct([("namespace", pa.string()), ("name", pa.string())]))
EVENTS = pa.schema(
    [
        *((name, pa.string()) for name in ("event_id", "run_id", "job_namespace", "job_name")),
        *((name, pa.string()) for name in ("dataset_namespace", "dataset_name")),
        ("inputs", NAMES),
        ("outputs", NAMES),
    ]
)


def coordinates(topic: str, partition: int, offset: int, minute: int) -> dict[str, Any]:
    return {"topic": topic, "partition": partition, "offset": offset, "timestamp": BEGIN + timedelta(minutes=minute)}


# Record, minute, event, run. The fourth minute is the next day. A timestamp may lie before that of an earlier record.
HISTORY = [
    (("events", 0, 0), 0, "start-a", "run-a"),
    (("events", 0, 1), 3, "end-a", "run-a"),
    (("events", 0, 2), 1, None, None),  # a dead letter
    (("events", 1, 0), 0, "start-b", "run-b"),
    (("events", 1, 1), 2, "table", None),  # a dataset event
    (("events", 1, 2), 2, "start-b", "run-b"),  # a copy
    (("events#2", 0, 0), 5, "end-b", "run-b"),
    (("events#2", 0, 1), 6, "job", None),  # a job event
]
ORDERS = {"namespace": "db://host/shop", "name": "public/orders"}


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run a is of the job shop/first, which writes orders with its end; run b of me/second, which reads nothing."""
    archived, known = [], []
    for place, minute, event, run in HISTORY:
        record = coordinates(*place, minute)
        value = "/".join(map(str, place)).encode()
        archived.append({**record, "day": record["timestamp"].date(), "key": b"key", "headers": None, "value": value})
        known.append({**record, "event_id": event, "run_id": run})
    root = tmp_path_factory.mktemp("untouched") / "tables"
    # Each its own file, written backwards.
    for row in reversed(archived):
        rows = pa.Table.from_pylist([row], ARCHIVE)
        write_deltalake(root / "archive", rows, mode="append", partition_by=["day"])
    write_deltalake(root / "records", pa.Table.from_pylist(known, RECORDS))
    events = [
        {"event_id": "start-a", "run_id": "run-a", "job_namespace": "shop", "job_name": "first"},
        {"event_id": "end-a", "run_id": "run-a", "job_namespace": "shop", "job_name": "first", "outputs": [ORDERS]},
        {"event_id": "start-b", "run_id": "run-b", "job_namespace": "me", "job_name": "second"},
        {"event_id": "end-b", "run_id": "run-b", "job_namespace": "me", "job_name": "second"},
        {"event_id": "job", "job_namespace": "me", "job_name": "second"},
        {"event_id": "table", "dataset_namespace": ORDERS["namespace"], "dataset_name": ORDERS["name"]},
    ]
    write_deltalake(root / "lineage_events", pa.Table.from_pylist(events, EVENTS))
    return str(root)


@pytest.fixture
def tables(untouched: str, tmp_path: Path) -> str:
    """The same, to do something with."""
    return str(shutil.copytree(untouched, tmp_path / "tables"))


def plan_of(selection: Selection, tables: str, directory: Path) -> Plan:
    return make_plan(directory / "plan", {}, selection, tables, directory)


def read(plan: Plan, tables: str, home: Path) -> list[str]:
    """The values of all records, in the order in which they are sent."""
    there = Archive(tables, home)
    batches = (batch for part in plan.parts for batch in there.records(plan.selected, part))
    return [(record.value or b"").decode() for batch in batches for record in batch]


EVERYTHING = ["events/0/0", "events/0/1", "events/0/2", "events/1/0", "events/1/1", "events/1/2"]
LATER = ["events#2/0/0", "events#2/0/1"]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), EVERYTHING + LATER),
        (Selection(since="2026-02-01T00:00Z"), ["events/0/1", "events/1/1", "events/1/2", *LATER]),
        (Selection(until="2026-02-01T00:00Z"), ["events/0/0", "events/0/2", "events/1/0"]),
        (
            Selection(since="2026-01-31T23:59Z", until="2026-02-01T00:01:00.000001Z"),
            [*EVERYTHING[1:3], *EVERYTHING[4:]],
        ),
        (Selection(offsets=("events/0/1-2",)), ["events/0/1", "events/0/2"]),
        (Selection(offsets=("events/1/1-", "events#2/0/0")), ["events/1/1", "events/1/2", "events#2/0/0"]),
        (Selection(run="RUN-A"), ["events/0/0", "events/0/1"]),
        (Selection(job="shop/first"), ["events/0/0", "events/0/1"]),
        (Selection(job="me/second"), ["events/1/0", "events/1/2", *LATER]),
        # The whole of run a, though only its end names the dataset; and the dataset's own event.
        (Selection(dataset="db://host/shop/public/orders"), ["events/0/0", "events/0/1", "events/1/1"]),
        (Selection(job="me/second", since="2026-02-01T00:00Z"), ["events/1/2", *LATER]),
        (Selection(job="shop/first", dataset="db://host/shop/public/orders", offsets=("events/0/1",)), ["events/0/1"]),
    ],
)
def test_selection(untouched: str, tmp_path: Path, selection: Selection, expected: list[str]) -> None:
    """By time, offset, job, run and dataset, and together: exactly these, in the order of topic, partition, offset."""
    plan = plan_of(selection, untouched, tmp_path)
    assert read(plan, untouched, tmp_path) == expected
    assert plan.records == len(expected)
    assert load_plan(tmp_path / "plan") == plan


def test_what_came_later_is_not_part_of_it(tables: str, tmp_path: Path) -> None:
    """The archive grows by what is replayed: without an end, a replay into the same topic would have none."""
    plan = plan_of(Selection(), tables, tmp_path)
    new = {**coordinates("events", 0, 3, 0), "day": date(2026, 1, 31), "key": None, "headers": None, "value": b"new"}
    write_deltalake(f"{tables}/archive", pa.Table.from_pylist([new], ARCHIVE), mode="append")
    assert read(plan, tables, tmp_path) == EVERYTHING + LATER


def test_a_part_is_read_from_any_offset_on(tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "AT_A_TIME", 1)
    there, selected = Archive(tables, tmp_path), Selected("true")
    part = there.parts(selected)[0]
    for after in range(-1, 3):
        batches = list(there.records(selected, part, after))
        assert [[one.offset for one in batch] for batch in batches] == [[at] for at in range(after + 1, 3)]


def test_files_whose_offsets_meet_are_read_together(tmp_path: Path) -> None:
    """After a compaction a file has many partitions, and other files may have offsets in between."""
    rows = [
        {**coordinates("t", partition, offset, 0), "day": date(2026, 1, 31), "value": b"x"}
        for partition, offset in [(0, 0), (1, 7), (0, 5), (0, 2), (0, 3), (0, 4), (0, 9)]
    ]
    for some in (rows[:3], rows[3:6], rows[6:]):
        write_deltalake(tmp_path / "archive", pa.Table.from_pylist(some, ARCHIVE), mode="append", partition_by=["day"])
    there = Archive(str(tmp_path), tmp_path)
    part = there.parts(Selected("true"))[0]
    assert [len(step) for step in there._steps(part, -1)] == [2, 1]
    assert [one.offset for batch in there.records(Selected("true"), part) for one in batch] == [0, 2, 3, 4, 5, 9]
    assert [len(step) for step in there._steps(part, 5)] == [1, 1], "one reaches to 7, of another partition"


def test_what_selects_nothing_is_told(tables: str, tmp_path: Path) -> None:
    write_deltalake(f"{tables}/jobs", pa.table({"namespace": ["shop"], "name": ["first"]}))
    with pytest.raises(NothingSelected, match="Did you mean shop/first"):
        plan_of(Selection(job="shop/frist"), tables, tmp_path)
    with pytest.raises(NothingSelected):
        plan_of(Selection(since="2027-01-01"), tables, tmp_path)
    for wrong in (Selection(job="first"), Selection(offsets=("events/0",)), Selection(offsets=("a'b/0/1",))):
        with pytest.raises(NoSelection):
            wrong.check()
    with pytest.raises(NoTable, match="not on this machine"):
        plan_of(Selection(), "s3a://lake/tables", tmp_path)


def test_without_the_other_tables_the_archive_is_enough_unless_content_matters(tables: str, tmp_path: Path) -> None:
    (Path(tables) / "records").rename(tmp_path / "gone")
    assert plan_of(Selection(since="2026-01-01"), tables, tmp_path).records == len(HISTORY)
    with pytest.raises(NoSelection, match="takes the table records"):
        plan_of(Selection(run="run-a"), tables, tmp_path)


def test_tables_go_to_a_directory_of_their_own(tables: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", tables=tables)
    for among in (Path(tables), Path(tables, "archive"), tmp_path):
        with pytest.raises(UnsuitableDirectory, match="holds the live tables"):
            plan_tables(settings, Selection(), among)
    fresh = tmp_path / "fresh"
    plan = plan_tables(settings, Selection(run="run-a"), fresh)
    assert plan.directory == fresh / KEPT_IN
    assert plan_tables(settings, Selection(run="run-a"), fresh) == plan, "which is begun already"
    with pytest.raises(UnsuitableDirectory, match="another selection"):
        plan_tables(settings, Selection(run="run-b"), fresh)
    strange = tmp_path / "strange"
    (strange / "sub").mkdir(parents=True)
    with pytest.raises(UnsuitableDirectory, match="no replay has begun there"):
        plan_tables(settings, Selection(), strange)


def test_a_rebuild_opens_what_the_job_opens(tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records with ids of the schema registry would all be dead letters there, if it were not asked."""
    configs: list[JobConfig] = []
    monkeypatch.setattr(replay_tables, "rebuild", lambda _spark, config, *_rest: configs.append(config))
    no_spark: Any = None
    with running() as server:
        settings = Settings(home=tmp_path, tables=tables, schema_registry=server.options, schema_ids={7: 1})
        plan = plan_tables(settings, Selection(), tmp_path / "fresh")
        replay_to_tables(no_spark, settings, plan, tmp_path / "fresh", lambda _batch: None, lambda: False)
        [config] = configs
        assert config.schema_ids == {**Registry(server.options).envelope_ids("lineage.events"), 7: 1}
        assert len(config.schema_ids) == 2
    assert (config.published, config.dead_letter_topic) == ({}, ""), "and sends nothing"


def test_dry_run(tables: str, tmp_path: Path) -> None:
    """Says how many, how much and from when to when, without a broker and without Spark."""

    def said(*arguments: str) -> str:
        places = ["--set", f"home={tmp_path}/home", "--set", f"tables={tables}"]
        result = CliRunner().invoke(app, ["replay", *arguments, *places])
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    expected = "2 records, 26 bytes, from 2026-01-31 23:58:00+00:00 to 2026-02-01 00:01:00+00:00."
    assert said("--to", "topic", "--job", "shop/first", "--dry-run") == expected
    assert said("--to", "tables", "there", "--job", "shop/first", "--dry-run") == expected
    assert not (tmp_path / "there").exists()
    newer = {**coordinates("events", 9, 9, 9), "day": date(2026, 2, 1), "value": b""}
    write_deltalake(f"{tables}/archive", pa.Table.from_pylist([newer], ARCHIVE), mode="append")
    assert said("--to", "topic", "--run", "run-a", "--dry-run").startswith("1 archived records are not curated yet")
