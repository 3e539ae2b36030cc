"""The runs that a lineage graph shows: the last ones of its jobs, and who wrote and read its datasets.

Rows are found for the nodes that are shown, and kept until the table `runs` changes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lineproof.serving.answers.combinations import Combinations, Pair, combinations
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

BARS = 5
"""So many runs of a job are shown."""

Row = dict[str, Any]

_COLUMNS = (
    *("run_id", "job_namespace", "job_name", "state", "successful", "started_at", "first_event_at", "ended_at"),
    *("duration_ms", "ledger_verdict", "ledger_difference", "certificate_verdict"),
)
"""What trust depends on."""
_ROW = ", ".join(f"'{name}': {name}" for name in _COLUMNS)
_BEGAN = "coalesce(started_at, first_event_at)"
_OF_JOBS = f"""
SELECT unnest(arg_max({{{{{_ROW}}}}}, {{{{'at': {_BEGAN}, 'run_id': run_id}}}}, {BARS})) AS run
FROM runs
WHERE {{of_jobs}} AND {_BEGAN} IS NOT NULL
GROUP BY job_namespace, job_name
"""
_OF_COMBINATIONS = f"""
SELECT
    io_id,
    max({{'at': ended_at, 'run_id': run_id}}) FILTER (successful AND ended_at IS NOT NULL) AS written,
    max({{'at': {_BEGAN}, 'run_id': run_id}}) FILTER ({_BEGAN} IS NOT NULL) AS begun
FROM runs
WHERE io_id IN (SELECT unnest(?))
GROUP BY io_id
"""
_BEFORE = """
SELECT asked.place, max({'at': runs.ended_at, 'run_id': runs.run_id}) AS written
FROM (SELECT unnest(?) AS place, unnest(?) AS io_id, unnest(?) AS moment) AS asked
JOIN runs ON runs.io_id = asked.io_id AND runs.successful AND runs.ended_at <= asked.moment
GROUP BY asked.place
"""
_ROWS = f"SELECT {', '.join(_COLUMNS)}, inputs, outputs FROM runs WHERE {{of_runs}}"


@dataclass(frozen=True)
class Moment:
    """A run, and when it wrote or read."""

    at: datetime
    run_id: str


@dataclass
class RunsOfGraph:
    """What was found so far in this version of `runs`."""

    of_job: dict[Pair, list[Row]] = field(default_factory=dict)
    """The last runs of each job, the oldest first."""
    written: dict[str, Moment | None] = field(default_factory=dict)
    """The last successful run with a combination."""
    begun: dict[str, Moment | None] = field(default_factory=dict)
    """The last run with a combination, of any result."""
    before: dict[tuple[Pair, datetime], Moment | None] = field(default_factory=dict)
    """The last successful run that wrote a dataset until then."""
    rows: dict[str, Row] = field(default_factory=dict)
    """Rows with their inputs and outputs, by run id."""


def runs_of_graph(tables: TableSet) -> RunsOfGraph:
    """What is known already of this version."""
    return tables.derived("lineage runs", ("runs", "job_io", "dataset_nodes"), lambda _: RunsOfGraph())


def last_runs(tables: TableSet, jobs: Sequence[Pair]) -> dict[Pair, list[Row]]:
    """The last runs of these jobs, the oldest first."""
    kept = runs_of_graph(tables).of_job
    missing = [job for job in jobs if job not in kept]
    if missing:
        found: dict[Pair, list[Row]] = {job: [] for job in missing}
        names = sorted({name for _, name in missing})
        for [row] in tables.query(_OF_JOBS.format(of_jobs=one_of("job_name", names)), *names).rows:
            found.setdefault((row["job_namespace"], row["job_name"]), []).insert(0, row)
        kept.update(found)
    return {job: kept[job] for job in jobs}


def find_moments(tables: TableSet, datasets: Iterable[Pair]) -> RunsOfGraph:
    """Find the last runs with the combinations that write or read these datasets."""
    kept, known = runs_of_graph(tables), combinations(tables)
    missing = {
        io_id
        for dataset in datasets
        for ids in (known.writing, known.reading)
        for io_id in ids.get(dataset, ())
        if io_id not in kept.written
    }
    if missing:
        rows = {row["io_id"]: row for row in tables.rows(_OF_COMBINATIONS, sorted(missing))}
        for io_id in missing:
            row = rows.get(io_id, {})
            kept.begun[io_id] = _moment(row.get("begun"))
            kept.written[io_id] = _moment(row.get("written"))
    return kept


def last_written(tables: TableSet, dataset: Pair) -> Moment | None:
    """The last successful run that wrote a dataset, after `find_moments`."""
    return last_writes(tables, [dataset])[dataset]


def last_writes(tables: TableSet, datasets: Iterable[Pair]) -> dict[Pair, Moment | None]:
    """The same for several datasets, which takes little longer than for one."""
    written, writing = runs_of_graph(tables).written, combinations(tables).writing
    return {dataset: latest(written.get(io_id) for io_id in writing.get(dataset, ())) for dataset in datasets}


def written_before(tables: TableSet, asked: Iterable[tuple[Pair, datetime]]) -> dict[tuple[Pair, datetime], Moment]:
    """The last successful run that wrote each dataset until then, after `find_moments`."""
    kept, known = runs_of_graph(tables), combinations(tables)
    wanted = {*asked}
    missing, unknown = [], wanted - kept.before.keys()
    newest_of = last_writes(tables, {dataset for dataset, _ in unknown})
    for dataset, until in unknown:
        newest = newest_of[dataset]
        if newest is None or newest.at <= until:
            kept.before[dataset, until] = newest
        else:
            missing.append((dataset, until))
    if missing:
        places = [(at, io_id) for at, (dataset, _) in enumerate(missing) for io_id in known.writing.get(dataset, ())]
        rows = tables.rows(
            _BEFORE,
            [at for at, _ in places],
            [io_id for _, io_id in places],
            [missing[at][1] for at, _ in places],
        )
        found = {row["place"]: _moment(row["written"]) for row in rows}
        kept.before.update({key: found.get(at) for at, key in enumerate(missing)})
    return {key: moment for key in wanted if (moment := kept.before[key])}


def run_rows(tables: TableSet, run_ids: Iterable[str]) -> dict[str, Row]:
    """The rows of these runs with their inputs and outputs."""
    kept, wanted = runs_of_graph(tables).rows, {*run_ids}
    missing = sorted(wanted - kept.keys())
    if missing:
        kept.update(
            {row["run_id"]: row for row in tables.rows(_ROWS.format(of_runs=one_of("run_id", missing)), *missing)}
        )
    return {run_id: kept[run_id] for run_id in wanted if run_id in kept}


def row_count(known: Combinations, entities: Sequence[Row] | None, dataset: Pair) -> int | None:
    """The number of rows of a dataset among the inputs or outputs of a run."""
    counts = (one["row_count"] for one in entities or () if known.node(one["namespace"], one["name"]) == dataset)
    return next((count for count in counts if count is not None), None)


def latest(moments: Iterable[Moment | None]) -> Moment | None:
    """The latest of several."""
    return max((one for one in moments if one), key=lambda one: (one.at, one.run_id), default=None)


def _moment(found: Row | None) -> Moment | None:
    return Moment(found["at"], found["run_id"]) if found else None
