"""The environment of the pipelines, in one directory: database, external systems, files and models."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import ownership_job

from lineproof.producers.emitter import Emitter
from lineproof.producers.facets import CdmeMorphismJobFacet, MorphismStep, SlaJobFacet, job_type
from lineproof.producers.lineage_mode import LineageMode
from lineproof.producers.pipelines import llm, resources, tables
from lineproof.producers.pipelines.apis import StubApis
from lineproof.producers.pipelines.catalog import CriticalPipeline, catalog_entry
from lineproof.producers.pipelines.data import Dataset, Rows
from lineproof.producers.pipelines.database import Database
from lineproof.producers.pipelines.proof import Proof
from lineproof.producers.pipelines.sample import EPOCH, VALUATION_WEIGHTS, sample
from lineproof.producers.run import Run, current_run


class Platform:
    """Everything a pipeline reads, writes and emits with. Use it in a `with` block: it runs a server.

    `read` and `write` add inputs and outputs to the current run, so that no pipeline has to.
    """

    def __init__(self, directory: Path, emitter: Emitter) -> None:
        self.emitter = emitter
        self.runs: dict[Run, Proof] = {}
        directory = directory.resolve()
        self.database = Database(directory / "platform.sqlite")
        self.inbox = resources.feedback_exports(directory / "inbox")
        self.reports = resources.reports(directory / "reports")
        self.pdf_reports = resources.pdf_reports(directory / "pdf")
        self.answers = {model: model.recorded() for model in (llm.SCORER, llm.EXTRACTOR)}
        self.apis = StubApis(
            {
                _path(resources.BENEVITY_HOURS): sample().benevity,
                _path(resources.GOODERA_EVENTS): sample().goodera,
                _path(resources.WORKDAY_EVENTS): sample().workday,
            }
        )

    def __enter__(self) -> "Platform":
        for files in (self.inbox, self.reports, self.pdf_reports):
            files.directory.mkdir(parents=True, exist_ok=True)
        self.database.create(tables.TABLES)
        self.database.write(tables.SROI_VALUATION_WEIGHTS, VALUATION_WEIGHTS)
        export = "".join(json.dumps(answer) + "\n" for answer in sample().feedback)
        (self.inbox.directory / "survey.jsonl").write_text(export, "utf-8")
        self.apis.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.apis.stop()

    def run(
        self,
        name: str,
        inputs: Sequence[ol.InputDataset],
        steps: Sequence[MorphismStep],
        *,
        facets: Mapping[str, Any] | None = None,
        job_facets: Mapping[str, Any] | None = None,
        lineage_mode: LineageMode | None = None,
    ) -> Run:
        """Create a run of a pipeline, with the job facets from its catalog entry and its steps."""
        entry = catalog_entry(name)
        run = self.emitter.run(
            name,
            inputs=inputs,
            facets=facets,
            documentation=entry.documentation,
            job_facets={**_job_facets(entry, steps), **(job_facets or {})},
            lineage_mode=lineage_mode,
        )
        run.lineage.execution(EPOCH)
        self.runs[run] = Proof(run)
        return run

    def read(self, table: Dataset) -> list[dict[str, Any]]:
        """Read all rows of a table."""
        rows = self.database.read(table)
        self.proof.read(table, rows)
        return rows

    def write(self, table: Dataset, rows: Rows, **options: Any) -> None:
        """Write rows to a table. Takes the options of `Dataset.as_output`."""
        self.database.write(table, rows)
        self.proof.wrote(table, rows, **options)

    @property
    def proof(self) -> Proof:
        """The proof of the current run: what it has read and written so far."""
        run = current_run()
        assert run is not None  # noqa: S101  pipelines read and write inside their runs
        return self.runs[run]

    def address(self, resource: Dataset) -> str:
        """The URL of a resource of an external system."""
        return f"{self.apis.url}/{_path(resource)}"


def _job_facets(entry: CriticalPipeline, steps: Sequence[MorphismStep]) -> dict[str, Any]:
    path = CdmeMorphismJobFacet(path=list(steps), lossless=False, checkpoints=[steps[-1].name])
    sla = SlaJobFacet(freshnessMinutes=entry.freshness_minutes, tier="critical")
    owner = ownership_job.Owner(name=entry.owner, type="OWNER")
    ownership = ownership_job.OwnershipJobFacet(owners=[owner])
    return {"jobType": job_type(), "ownership": ownership, sla.KEY: sla, path.KEY: path}


def _path(resource: Dataset) -> str:
    return f"{resource.name.namespace}/{resource.name.name}"
