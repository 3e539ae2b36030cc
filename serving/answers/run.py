"""One run: what was intended (intent), by which code (logic), and the evidence (proof), with its timeline."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from lineproof.serving.answers.facets import parsed
from lineproof.serving.answers.model import Answer, ExactCount, Name, Owner, names, owners
from lineproof.serving.answers.run_certificates import LinkedCertificate, certificates_of
from lineproof.serving.answers.run_proof import (
    EmitterRange,
    ReconciledInput,
    emitters_of,
    reconciled_inputs,
)
from lineproof.serving.answers.run_timeline import TimelineEvent, timeline
from lineproof.serving.answers.runs import COLUMNS, RunSummary, summarise
from lineproof.serving.open_tables import TableSet

MAX_CHILDREN = 100
_THREADS = 2
_MORPHISMS = ("cdme_morphism", "cdme.morphism")


class RunLink(Answer):
    """Another run, as an event names it. It need not have events of its own."""

    run_id: str | None
    job: Name | None


class CountedDataset(Answer):
    """An input or output, with its statistics if any event states them."""

    namespace: str
    name: str
    row_count: int | None
    size: int | None


class Intent(Answer):
    """What the job is meant to do."""

    documentation: str | None
    documentation_url: str | None
    owners: list[Owner]
    max_duration_ms: int | None
    freshness_minutes: float | None
    nominal_start_at: datetime | None
    nominal_end_at: datetime | None


class Logic(Answer):
    """The code that ran."""

    sql: str | None
    morphism: Any
    source_code_url: str | None
    manifest: Any


class Ledger(Answer):
    """The accounting ledger of the latest event that has one."""

    verdict: str
    difference: ExactCount | None
    input_count: ExactCount | None
    processed_count: ExactCount | None
    filtered_count: ExactCount | None
    errored_count: ExactCount | None
    declared_balanced: bool | None
    stated_at: datetime | None


class Proof(Answer):
    """The evidence that the run did what it was meant to do."""

    successful: bool
    ledger: Ledger | None
    certificates: list[LinkedCertificate]
    rows_read: ExactCount | None
    rows_written: ExactCount | None
    reconciliation: list[ReconciledInput]
    emitters: list[EmitterRange]


class Run(RunSummary):
    """Everything about one run, but for its facets and events."""

    parent: RunLink | None
    root: RunLink | None
    children: list[RunSummary]
    trace_id: str | None
    producer: str | None
    nominal_start_at: datetime | None
    nominal_end_at: datetime | None
    inputs: list[CountedDataset]
    outputs: list[CountedDataset]
    jobs: list[Name]
    timeline: list[TimelineEvent]
    is_timeline_complete: bool
    """False if the run has more events than the timeline shows: those are the latest."""
    intent: Intent
    logic: Logic
    proof: Proof


def run(tables: TableSet, run_id: str) -> Run | None:
    """The run with this id; None if there is none."""
    row = tables.row(
        f"SELECT {COLUMNS}, struct_pack({_PACKED}) AS details FROM runs WHERE run_id = ?",
        run_id,
    )
    if row is None:
        return None
    details = row["details"]
    # Each of these queries reads from one or two files, so it keeps one processor busy and not the others.
    with ThreadPoolExecutor(_THREADS) as pool:
        of_events = pool.submit(timeline, tables, row)
        of_inputs = pool.submit(reconciled_inputs, tables, row, details["inputs"] or [])
        [summary] = summarise(tables, [row])
        job, children = _job(tables, row), _children(tables, run_id)
        events, reconciliation = of_events.result(), of_inputs.result()
    nominal = details["nominal"] or {}
    return Run(
        **dict(summary),
        parent=_link(details["parent"]),
        root=_link(details["root"]),
        children=children,
        trace_id=details["trace_id"],
        producer=details["producer"],
        nominal_start_at=nominal.get("start_at"),
        nominal_end_at=nominal.get("end_at"),
        inputs=_counted(details["inputs"]),
        outputs=_counted(details["outputs"]),
        jobs=names(details["jobs"]),
        timeline=events.events,
        is_timeline_complete=events.is_complete,
        intent=_intent(job, nominal),
        logic=Logic(
            sql=job.get("sql"),
            morphism=_facet(job, *_MORPHISMS),
            source_code_url=job.get("source_code_url"),
            manifest=events.manifest,
        ),
        proof=Proof(
            successful=summary.successful,
            ledger=_ledger(row, details["ledger"]),
            certificates=certificates_of(tables, run_id) if row["certificate_verdict"] else [],
            rows_read=_sum(details["inputs"]),
            rows_written=_sum(details["outputs"]),
            reconciliation=reconciliation,
            emitters=emitters_of(tables, events.records),
        ),
    )


_PACKED = ", ".join(
    f"{name} := {name}"
    for name in ("parent", "root", "trace_id", "producer", "nominal", "inputs", "outputs", "jobs", "ledger")
)


def _children(tables: TableSet, run_id: str) -> list[RunSummary]:
    rows = tables.rows(
        f"SELECT {COLUMNS} FROM runs WHERE parent.run_id = ? "
        f"ORDER BY coalesce(started_at, first_event_at), run_id LIMIT {MAX_CHILDREN}",
        run_id,
    )
    return summarise(tables, rows)


def _job(tables: TableSet, row: dict[str, Any]) -> dict[str, Any]:
    found = tables.row(
        "SELECT description, owners, sql, source_code_url, freshness_minutes, max_duration_ms, facets FROM jobs "
        "WHERE namespace = ? AND name = ?",
        row["job_namespace"],
        row["job_name"],
    )
    return found or {}


def _intent(job: dict[str, Any], nominal: dict[str, Any]) -> Intent:
    return Intent(
        documentation=job.get("description"),
        documentation_url=documentation_url(job),
        owners=owners(job.get("owners")),
        max_duration_ms=job.get("max_duration_ms"),
        freshness_minutes=job.get("freshness_minutes"),
        nominal_start_at=nominal.get("start_at"),
        nominal_end_at=nominal.get("end_at"),
    )


def documentation_url(job: dict[str, Any]) -> str | None:
    """The address of the documentation, where the facet has one in place of a text."""
    facet = _facet(job, "documentation")
    is_uri = isinstance(facet, dict) and facet.get("contentType") == "text/uri-list"
    return str(facet["description"]) if is_uri and facet.get("description") else None


def _facet(job: dict[str, Any], *wanted: str) -> Any:
    facets = {one["name"]: one["facet"] for one in job.get("facets") or ()}
    return next((parsed(facets[name]) for name in wanted if name in facets), None)


def _ledger(row: dict[str, Any], ledger: dict[str, Any] | None) -> Ledger | None:
    if ledger is None or row["ledger_verdict"] is None:
        return None
    counts = ("input_count", "processed_count", "filtered_count", "errored_count", "declared_balanced")
    return Ledger(
        verdict=row["ledger_verdict"],
        difference=row["ledger_difference"],
        stated_at=ledger["event_time"],
        **{name: ledger[name] for name in counts},
    )


def _link(other: dict[str, Any] | None) -> RunLink | None:
    if other is None or other["run_id"] is None:
        return None
    has_job = other["job_namespace"] is not None and other["job_name"] is not None
    job = Name(namespace=other["job_namespace"], name=other["job_name"]) if has_job else None
    return RunLink(run_id=other["run_id"], job=job)


def _counted(datasets: list[dict[str, Any]] | None) -> list[CountedDataset]:
    fields = CountedDataset.model_fields
    return [CountedDataset(**{name: one[name] for name in fields}) for one in datasets or ()]


def _sum(datasets: list[dict[str, Any]] | None) -> int | None:
    """All rows; None if no dataset states a count."""
    counts = [one["row_count"] for one in datasets or () if one["row_count"] is not None]
    return sum(counts) if counts else None
