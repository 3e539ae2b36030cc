"""Jobs, datasets, schemas, results of tests and impact."""

from pathlib import Path

import pytest

from lineproof.serving.answers.datasets import datasets
from lineproof.serving.answers.impact import impact
from lineproof.serving.answers.jobs import Job, job, jobs
from lineproof.serving.answers.paging import Paging
from lineproof.serving.answers.quality import quality, quality_summary
from lineproof.serving.answers.schemas import schema_versions
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.streaming.story import CLEAN, FAILED, LOAD, REPORT, WORLD
from tests.tables import make_tables
from tests.unit.serving.answers.world import AT, HOSTILE

ALL = Paging(limit=1000)


def the_job(tables: TableSet, name: str, namespace: str = WORLD) -> Job:
    found = job(tables, namespace, name)
    assert found is not None
    return found


def test_a_job(tables: TableSet) -> None:
    found = the_job(tables, "report")
    assert [(one.namespace, one.name) for one in found.inputs] == [(WORLD, "clean")]
    assert {one.name for one in found.outputs} == {"report", "orders"}
    assert (found.description, found.sql) == ("Adds up the orders", "SUM")
    assert [one.run_id for one in found.runs] == [REPORT]
    assert found.last_run == found.runs[0]
    assert set(found.facets) == {"documentation", "sql"}
    assert (the_job(tables, "late").max_duration_ms, the_job(tables, "late").freshness_minutes) == (120_000, 5)
    assert [one.run_id for one in the_job(tables, "load").runs] == [FAILED, LOAD]


def test_a_job_that_only_runs_know(tables: TableSet) -> None:
    """The table of jobs is written less often."""
    found = the_job(tables, "job", "faults")
    assert (found.description, found.first_seen_at, len(found.runs)) == (None, None, 9)
    assert job(tables, "faults", "no such job") is None


def test_jobs_say_how_much_they_read_and_write(tables: TableSet) -> None:
    found = {(one.namespace, one.name): one for one in jobs(tables, None, None, ALL).items}
    report = found[WORLD, "report"]
    assert (report.inputs, report.outputs, report.last_run and report.last_run.run_id) == (1, 2, REPORT)
    assert found[WORLD, "load"].last_run == the_job(tables, "load").runs[0]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(tables: TableSet, name: str) -> None:
    assert [one.name for one in jobs(tables, None, name, ALL).items] == [name]
    assert {one.name for one in datasets(tables, None, None, name, ALL).items} == {name, f"{name} in"}
    assert name in {one.name for one in datasets(tables, name.upper(), None, None, ALL).items}
    found = the_job(tables, name, name)
    assert [one.name for one in found.outputs] == [name]
    [written] = impact(tables, name, f"{name} in", None, ALL).items
    assert (written.name, [one.name for one in written.jobs]) == (name, [name])


def test_datasets_by_tag(tables: TableSet) -> None:
    for tag, expected in (("residency", ["orders"]), ("residency=eu", ["orders"]), ("residency=us", []), ("a=b=c", [])):
        assert [one.name for one in datasets(tables, None, tag, None, ALL).items] == expected


def test_datasets_have_their_last_successful_load(tables: TableSet) -> None:
    found = {(one.namespace, one.name): one for one in datasets(tables, None, None, None, ALL).items}
    report, orders, clean = found[WORLD, "report"], found[WORLD, "orders"], found["s3://lake", "clean"]
    assert (report.row_count, report.trust, report.reason) == (2, "broken", "last load: the run failed")
    assert (orders.trust, orders.reason, orders.tests_failed) == ("broken", "1 test failed", 1)
    assert (clean.row_count, clean.trust) == (8, "unknown")
    assert found["archive", "archive in"].reason == "no run that writes it is known"


def test_schemas_say_what_changed(tmp_path: Path) -> None:
    def version(minute: int, *fields: tuple[str, str]) -> dict[str, object]:
        seen = {"event_time": AT.replace(minute=minute), "event_id": str(minute), "run_id": CLEAN}
        listed = [{"name": name, "type": type_} for name, type_ in fields]
        stated = {"namespace": "n", "name": "d", "schema_hash": str(minute), "fields": listed}
        return {**stated, "first_seen": seen, "last_seen": seen}

    rows = [version(2, ("a", "int"), ("b", "text")), version(1, ("a", "int")), version(3, ("a", "bigint"))]
    make_tables(tmp_path / "tables", {"dataset_schemas": rows})
    first, second, third = schema_versions(OpenTables(str(tmp_path / "tables")).now(), "n", "d")
    assert (first.added, first.removed, first.changed) == ([], [], [])
    assert (second.added, second.removed, second.changed) == (["b"], [], [])
    assert (third.added, third.removed) == ([], ["b"])
    assert [(one.name, one.before, one.after) for one in third.changed] == [("a", "int", "bigint")]


def test_a_dataset_has_the_schemas_of_all_its_names(tables: TableSet) -> None:
    assert schema_versions(tables, WORLD, "clean") == schema_versions(tables, "s3://lake", "clean") != []


def test_results_of_tests(tables: TableSet) -> None:
    failed = quality(tables, "faults", None, False, ALL).items
    assert {one.name for one in failed} == {"failing", "mended", "not run"}
    assert {one.name for one in quality(tables, None, "skipped", None, ALL).items} == {"skipped"}
    summary = {(one.namespace, one.name): one for one in quality_summary(tables, ALL).items}
    assert (summary["faults", "mended"].tests, summary["faults", "mended"].failed) == (1, 0)
    assert (summary[WORLD, "orders"].tests, summary[WORLD, "orders"].failed) == (2, 1)
    assert summary["faults", "not run"].not_run == 1
    assert ("faults", "skipped") not in summary


def test_impact_is_nearest_first_and_ends_in_cycles(tables: TableSet) -> None:
    found = impact(tables, WORLD, "orders", None, ALL).items
    assert [(one.name, one.depth) for one in found] == [("clean", 1), ("report", 2)]
    assert [one.name for one in found[0].jobs] == ["clean"]


def test_impact_of_a_column(tables: TableSet) -> None:
    [total] = impact(tables, "s3://lake", "clean", "amount", ALL).items
    assert (total.name, total.field, total.depth, [one.name for one in total.jobs]) == (
        "report",
        "total",
        1,
        ["report"],
    )
    assert impact(tables, WORLD, "clean", "id", ALL).items == []


def test_an_empty_installation(empty: TableSet) -> None:
    assert job(empty, "n", "j") is None
    assert impact(empty, "n", "d", "c", ALL).items == []
