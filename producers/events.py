"""Builds OpenLineage events as JSON documents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import documentation_job

from lineproof.producers.document import to_document
from lineproof.producers.lineage_mode import LineageMode
from lineproof.schemas.facets import FacetRegistry

Facets = Mapping[str, Any]
"""Facets by key: OpenLineage objects or plain mappings."""

Document = dict[str, Any]

_SCHEMA_URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"


@dataclass(frozen=True)
class JobDescription:
    """A job as its events describe it: an identity that is stable across runs, and facets."""

    namespace: str
    name: str
    facets: Facets
    lineage_mode: LineageMode


def documentation_facet(documentation: str) -> documentation_job.DocumentationJobFacet:
    """The documentation of a job: a text or a link."""
    is_link = documentation.startswith(("https://", "http://"))
    content_type = "text/uri-list" if is_link else "text/markdown"
    return documentation_job.DocumentationJobFacet(description=documentation, contentType=content_type)


class EventBuilder:
    """Builds the events of one producer. Overwrites `_producer` of every facet: who emits a facet vouches for it."""

    def __init__(self, producer: str, registry: FacetRegistry) -> None:
        self._producer = producer
        self._registry = registry

    def run_event(
        self,
        event_type: str,
        event_time: str,
        run_id: str,
        run_facets: Facets,
        job: JobDescription,
        inputs: Iterable[ol.InputDataset] = (),
        outputs: Iterable[ol.OutputDataset] = (),
    ) -> Document:
        """Build a run event."""
        return {
            "eventType": event_type,
            **self._base("RunEvent", event_time),
            "run": {"runId": run_id, "facets": self._facets("run", run_facets)},
            **self._job(job, inputs, outputs),
        }

    def job_event(
        self,
        event_time: str,
        job: JobDescription,
        inputs: Iterable[ol.InputDataset] = (),
        outputs: Iterable[ol.OutputDataset] = (),
    ) -> Document:
        """Build a job event: metadata of a job without a run."""
        return {**self._base("JobEvent", event_time), **self._job(job, inputs, outputs)}

    def dataset_event(self, event_time: str, dataset: ol.StaticDataset) -> Document:
        """Build a dataset event: metadata of a dataset without a job."""
        return {**self._base("DatasetEvent", event_time), "dataset": self._dataset(dataset)}

    def _base(self, kind: str, event_time: str) -> Document:
        return {"eventTime": event_time, "producer": self._producer, "schemaURL": _SCHEMA_URL + kind}

    def _job(self, job: JobDescription, inputs: Iterable[Any], outputs: Iterable[Any]) -> Document:
        return {
            "job": {"namespace": job.namespace, "name": job.name, "facets": self._facets("job", job.facets)},
            "inputs": [self._dataset(dataset, input=dataset.inputFacets) for dataset in inputs],
            "outputs": [self._dataset(dataset, output=dataset.outputFacets) for dataset in outputs],
        }

    def _dataset(self, dataset: Any, **role_facets: Facets | None) -> Document:
        return {
            "namespace": dataset.namespace,
            "name": dataset.name,
            "facets": self._facets("dataset", dataset.facets or {}),
            **{f"{role}Facets": self._facets(role, facets) for role, facets in role_facets.items() if facets},
        }

    def _facets(self, entity: str, facets: Facets) -> Document:
        document = to_document(facets)
        for key, facet in document.items():
            facet["_producer"] = self._producer
            if "_schemaURL" not in facet and (url := self._registry.schema_url(entity, key)):
                facet["_schemaURL"] = url
        return dict(document)
