"""Which archived records are replayed, and in which order. To topics and into tables: tests/end_to_end."""

import shutil
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from typer.testing import CliRunner

from lineproof.cli.main import app
from lineproof.local import replay as local_replay
from lineproof.local.replay import replay_to_tables
from lineproof.schemas.limits import Limits
from lineproof.schemas.registry import Registry
from lineproof.serving import archive
from lineproof.serving.archive import Archive, ArchiveFilter
from lineproof.serving.delta_reader import UnreadableTable
from lineproof.serving.replay_plan import NothingSelected, Plan, load_plan, make_plan
from lineproof.serving.replay_tables import PLAN_DIRECTORY, UnsuitableDirectory, plan_tables
from lineproof.serving.selection import InvalidSelection, Selection
from lineproof.settings import Settings
from lineproof.settings.sections import LimitSettings
from lineproof.streaming.config import CurateConfig
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
    # Each row in a file of its own, written in reverse order.
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
    """A copy of the tables that a test may change."""
    return str(shutil.copytree(untouched, tmp_path / "tables"))


def plan_of(selection: Selection, tables: str, directory: Path) -> Plan:
    return make_plan(directory / "plan", {}, selection, tables, directory)


def read(plan: Plan, tables: str, home: Path) -> list[str]:
    """The values of all records, in the order in which they are sent."""
    archived = Archive(tables, home)
    batches = (batch for offsets in plan.ranges for batch in archived.records(plan.filter, offsets))
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
        # All of run a, although only its end names the dataset; and the dataset event.
        (Selection(dataset="db://host/shop/public/orders"), ["events/0/0", "events/0/1", "events/1/1"]),
        (Selection(job="me/second", since="2026-02-01T00:00Z"), ["events/1/2", *LATER]),
        (Selection(job="shop/first", dataset="db://host/shop/public/orders", offsets=("events/0/1",)), ["events/0/1"]),
    ],
)
def test_selection(untouched: str, tmp_path: Path, selection: Selection, expected: list[str]) -> None:
    """Filters by time, offset, job, run and dataset, combined with AND; in the order of topic, partition, offset."""
    plan = plan_of(selection, untouched, tmp_path)
    assert read(plan, untouched, tmp_path) == expected
    assert plan.records == len(expected)
    assert load_plan(tmp_path / "plan") == plan


def test_records_that_are_archived_later_are_not_replayed(tables: str, tmp_path: Path) -> None:
    """The archive grows by the replayed records: a replay into the same topic would never end."""
    plan = plan_of(Selection(), tables, tmp_path)
    new = {**coordinates("events", 0, 3, 0), "day": date(2026, 1, 31), "key": None, "headers": None, "value": b"new"}
    write_deltalake(f"{tables}/archive", pa.Table.from_pylist([new], ARCHIVE), mode="append")
    assert read(plan, tables, tmp_path) == EVERYTHING + LATER


def test_a_range_is_read_after_any_offset(tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "RECORDS_PER_BATCH", 1)
    archived, everything = Archive(tables, tmp_path), ArchiveFilter("true")
    offsets = archived.ranges(everything)[0]
    for after in range(-1, 3):
        batches = list(archived.records(everything, offsets, after))
        assert [[record.offset for record in batch] for batch in batches] == [[at] for at in range(after + 1, 3)]


def test_files_with_overlapping_offsets_are_read_together(tmp_path: Path) -> None:
    """After a compaction a file has many partitions, and other files may have offsets in between."""
    rows = [
        {**coordinates("t", partition, offset, 0), "day": date(2026, 1, 31), "value": b"x"}
        for partition, offset in [(0, 0), (1, 7), (0, 5), (0, 2), (0, 3), (0, 4), (0, 9)]
    ]
    for some in (rows[:3], rows[3:6], rows[6:]):
        write_deltalake(tmp_path / "archive", pa.Table.from_pylist(some, ARCHIVE), mode="append", partition_by=["day"])
    archived, everything = Archive(str(tmp_path), tmp_path), ArchiveFilter("true")
    offsets = archived.ranges(everything)[0]
    assert [len(group) for group in archived._file_groups(offsets, -1)] == [2, 1]
    read = [record.offset for batch in archived.records(everything, offsets) for record in batch]
    assert read == [0, 2, 3, 4, 5, 9]
    assert [len(group) for group in archived._file_groups(offsets, 5)] == [1, 1], "a file has 7, of another partition"


def test_an_empty_selection_is_an_error(tables: str, tmp_path: Path) -> None:
    write_deltalake(f"{tables}/jobs", pa.table({"namespace": ["shop"], "name": ["first"]}))
    with pytest.raises(NothingSelected, match="Did you mean shop/first"):
        plan_of(Selection(job="shop/frist"), tables, tmp_path)
    with pytest.raises(NothingSelected):
        plan_of(Selection(since="2027-01-01"), tables, tmp_path)
    for wrong in (Selection(job="first"), Selection(offsets=("events/0",)), Selection(offsets=("a'b/0/1",))):
        with pytest.raises(InvalidSelection):
            wrong.check()
    with pytest.raises(UnreadableTable, match="not on this machine"):
        plan_of(Selection(), "s3a://lake/tables", tmp_path)


def test_other_tables_are_needed_only_to_select_by_content(tables: str, tmp_path: Path) -> None:
    (Path(tables) / "records").rename(tmp_path / "gone")
    assert plan_of(Selection(since="2026-01-01"), tables, tmp_path).records == len(HISTORY)
    with pytest.raises(InvalidSelection, match="needs the table records"):
        plan_of(Selection(run="run-a"), tables, tmp_path)


def test_tables_go_to_a_directory_of_their_own(tables: str, tmp_path: Path) -> None:
    spill = tmp_path / "home"
    for among in (Path(tables), Path(tables, "archive"), tmp_path):
        with pytest.raises(UnsuitableDirectory, match="holds the live tables"):
            plan_tables(among, Selection(), tables, spill)
    fresh = tmp_path / "fresh"
    plan = plan_tables(fresh, Selection(run="run-a"), tables, spill)
    assert plan.directory == fresh / PLAN_DIRECTORY
    assert plan_tables(fresh, Selection(run="run-a"), tables, spill) == plan, "which is begun already"
    with pytest.raises(UnsuitableDirectory, match="another selection"):
        plan_tables(fresh, Selection(run="run-b"), tables, spill)
    strange = tmp_path / "strange"
    (strange / "sub").mkdir(parents=True)
    with pytest.raises(UnsuitableDirectory, match="no replay was started there"):
        plan_tables(strange, Selection(), tables, spill)


def test_a_rebuild_decodes_what_the_job_decodes(tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the schema registry, all records with its ids would be dead letters."""
    configs: list[CurateConfig] = []
    monkeypatch.setattr(local_replay, "rebuild", lambda _spark, config, *_rest: configs.append(config))
    no_spark: Any = None
    with running() as server:
        registry, limits = server.options, LimitSettings(jobs=7)
        settings = Settings(home=tmp_path, tables=tables, schema_registry=registry, schema_ids={7: 1}, limits=limits)
        plan = plan_tables(tmp_path / "fresh", Selection(), tables, tmp_path)
        replay_to_tables(no_spark, settings, plan, tmp_path / "fresh", lambda _batch: None, lambda: False)
        [config] = configs
        assert config.schema_ids == {**Registry(server.options).envelope_ids("lineage.events"), 7: 1}
        assert len(config.schema_ids) == 2
    assert config.limits == Limits(jobs=7)
    assert config.publish is None, "and sends nothing"


def test_dry_run(tables: str, tmp_path: Path) -> None:
    """Prints the number of records, their size and their times, without a broker and without Spark."""

    def output(*arguments: str) -> str:
        places = ["--set", f"home={tmp_path}/home", "--set", f"tables={tables}"]
        result = CliRunner().invoke(app, ["replay", *arguments, *places])
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    expected = "2 records, 26 bytes, from 2026-01-31 23:58:00+00:00 to 2026-02-01 00:01:00+00:00."
    assert output("--to", "topic", "--job", "shop/first", "--dry-run") == expected
    assert output("--to", "tables", "there", "--job", "shop/first", "--dry-run") == expected
    assert not (tmp_path / "there").exists()
    newer = {**coordinates("events", 9, 9, 9), "day": date(2026, 2, 1), "value": b""}
    write_deltalake(f"{tables}/archive", pa.Table.from_pylist([newer], ARCHIVE), mode="append")
    assert output("--to", "topic", "--run", "run-a", "--dry-run").startswith("1 archived records are not curated yet")
