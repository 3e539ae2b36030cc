"""The small world the pipelines live in, in one directory: database, external systems, files and models."""

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
from lineproof.producers.pipelines.catalog import CriticalPipeline, promised
from lineproof.producers.pipelines.data import Dataset, Rows
from lineproof.producers.pipelines.database import Database
from lineproof.producers.pipelines.proof import Proof
from lineproof.producers.pipelines.sample import EPOCH, VALUATION_WEIGHTS, sample
from lineproof.producers.run import Run, current_run


class Platform:
    """All that a pipeline reads, writes and emits with. Open it in a `with` block: it runs a server.

    Its storage notes what the current run reads and writes, so that no pipeline has to.
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
        """A run of a pipeline, with what the catalog and the steps say about its job."""
        listed = promised(name)
        run = self.emitter.run(
            name,
            inputs=inputs,
            facets=facets,
            documentation=listed.documentation,
            job_facets={**_about(listed, steps), **(job_facets or {})},
            lineage_mode=lineage_mode,
        )
        run.lineage.execution(EPOCH)
        self.runs[run] = Proof(run)
        return run

    def read(self, table: Dataset) -> list[dict[str, Any]]:
        """All rows of a table."""
        rows = self.database.read(table)
        self.proof.read(table, rows)
        return rows

    def write(self, table: Dataset, rows: Rows, **described: Any) -> None:
        """Put rows into a table; what describes them are options of `Dataset.as_output`."""
        self.database.write(table, rows)
        self.proof.wrote(table, rows, **described)

    @property
    def proof(self) -> Proof:
        """What the current run has read and written so far."""
        run = current_run()
        assert run is not None  # noqa: S101  pipelines read and write inside their runs
        return self.runs[run]

    def address(self, resource: Dataset) -> str:
        """Where an external system answers."""
        return f"{self.apis.url}/{_path(resource)}"


def _about(listed: CriticalPipeline, steps: Sequence[MorphismStep]) -> dict[str, Any]:
    path = CdmeMorphismJobFacet(path=list(steps), lossless=False, checkpoints=[steps[-1].name])
    sla = SlaJobFacet(freshnessMinutes=listed.freshness_minutes, tier="critical")
    owner = ownership_job.Owner(name=listed.owner, type="OWNER")
    ownership = ownership_job.OwnershipJobFacet(owners=[owner])
    return {"jobType": job_type(), "ownership": ownership, sla.KEY: sla, path.KEY: path}


def _path(resource: Dataset) -> str:
    return f"{resource.name.namespace}/{resource.name.name}"
