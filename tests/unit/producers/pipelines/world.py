"""A work directory of the pipelines, the expected datasets of each, and helpers to look at events."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from lineproof.producers.chain import Chain
from lineproof.producers.emitter import Emitter
from lineproof.producers.pipelines.faults import Fault
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.pipelines.runner import PIPELINES, PipelineResult, run_pipelines
from tests.transport import Memory

DATABASE = "teei.postgres.public"
RECORD_FAULTS = {Fault.BAD_RECORDS, Fault.BAD_LINES}
EXPECTED = {
    "benevity-sync": ("benevity.api/volunteer_hours", "buddy_events"),
    "goodera-sync": ("goodera.api/volunteering_events", "buddy_events"),
    "workday-sync": ("workday.api/worker_events", "buddy_system_events"),
    "feedback-ingestion": ("file/inbox", "buddy_feedback"),
    "q2q-transformation": ("buddy_feedback example-ai/outcome-scorer-1", "outcome_scores"),
    "q2q-evidence-extraction": ("buddy_feedback example-ai/evidence-extractor-1", "evidence_snippets"),
    "sroi-calculation": ("buddy_system_events sroi_valuation_weights", "sroi_calculations metric_lineage"),
    "vis-calculation": ("buddy_events outcome_scores", "vis_scores metric_lineage"),
    "aggregation": ("buddy_events outcome_scores sroi_calculations vis_scores", "metrics_company_period"),
    "report-generation": (
        "metrics_company_period sroi_calculations evidence_snippets",
        "file/reports report_lineage",
    ),
    "pdf-export": ("file/reports", "file/pdf"),
    "scheduled-reports": ("metrics_company_period file/pdf", "report_deliveries"),
}
"""Inputs and outputs of each pipeline; a name without a namespace is a table."""


FAULTS = [(name, fault) for name, pipeline in PIPELINES.items() for fault in pipeline.faults]


class World:
    """A work directory, and all events emitted from it in strict mode."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "work"
        self.memory = Memory()
        self.api_key = ""
        self.chain = Chain(directory / "certificates.jsonl")
        self.emitter = Emitter(self.memory, "impact", chain=self.chain, strict=True)

    def run(self, *names: str, **options: Any) -> list[PipelineResult]:
        return run_pipelines(names or list(PIPELINES), self.emitter, self.directory, report=lambda _: None, **options)

    def events(self, name: str, kind: str) -> list[dict[str, Any]]:
        return [
            document
            for document in self.memory.documents
            if document["job"]["name"] == name and document["eventType"] == kind
        ]

    def completed(self, name: str) -> dict[str, Any]:
        """The first COMPLETE of a pipeline."""
        return self.events(name, "COMPLETE")[0]

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.directory / "platform.sqlite")) as connection:
            return list(connection.execute(sql))

    def contents(self) -> dict[str, Any]:
        """Everything that is stored: every row of every table, every file."""
        names = [name for (name,) in self.query("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows: dict[str, Any] = {name: sorted(self.query(f"SELECT * FROM {name}")) for name in names}
        documents = [file for folder in ("reports", "pdf") for file in (self.directory / folder).iterdir()]
        return {**rows, **{str(file): file.read_bytes() for file in documents}}


def run_with_fault(platform: Platform, name: str, fault: Fault) -> BaseException | None:
    """Run a pipeline with a fault, and return the exception it raised."""
    with fault.inject(platform):
        try:
            PIPELINES[name].work(platform)
        except Exception as error:
            return error
    return None


def datasets(document: dict[str, Any], side: str) -> set[str]:
    """The inputs or outputs of an event, in the form of `EXPECTED`."""
    return {
        dataset["name"]
        if dataset["namespace"] == DATABASE
        else f"{dataset['namespace']}/{dataset['name'].rpartition('/')[2]}"
        for dataset in document[side]
    }


def facets(documents: list[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every facet: its entity, its key, and the facet."""
    for document in documents:
        parts = [("run", document["run"]["facets"]), ("job", document["job"]["facets"])]
        for side, role in (("inputs", "input"), ("outputs", "output")):
            for dataset in document[side]:
                parts += [("dataset", dataset["facets"]), (role, dataset.get(f"{role}Facets", {}))]
        for entity, by_key in parts:
            for key, facet in by_key.items():
                yield entity, key, facet
