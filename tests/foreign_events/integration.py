"""Builds the events of one integration: producer, specification version and serialisation."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]

_SPEC = "https://openlineage.io/spec"


def python_client(document: Document) -> bytes:
    """As `openlineage-python` writes to Kafka: keys sorted, ASCII only."""
    return json.dumps(document, sort_keys=True).encode()


def java_client(document: Document) -> bytes:
    """As the Java client writes: members in the order they were set, no spaces, UTF-8."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Integration:
    """Builds the events and facets of one producer."""

    producer: str
    write: Callable[[Document], bytes]
    spec: str = "2-0-2"
    definitions: str = "#/$defs/"
    """The fragment of a schema URL after the file: versions differ, and some have none."""

    def run_event(
        self,
        event_type: str | None,
        time: str,
        run: Document,
        job: Document,
        inputs: Sequence[Document] = (),
        outputs: Sequence[Document] = (),
    ) -> Document:
        """A run event; without `eventType` if the type is None."""
        typed = {} if event_type is None else {"eventType": event_type}
        parts = {"run": run, "job": job, "inputs": list(inputs), "outputs": list(outputs)}
        return {"eventTime": time, **self._signed("RunEvent"), **typed, **parts}

    def job_event(self, time: str, job: Document, inputs: Sequence[Document], outputs: Sequence[Document]) -> Document:
        """A job event."""
        parts = {"job": job, "inputs": list(inputs), "outputs": list(outputs)}
        return {"eventTime": time, **self._signed("JobEvent"), **parts}

    def dataset_event(self, time: str, dataset: Document) -> Document:
        """A dataset event."""
        return {"eventTime": time, **self._signed("DatasetEvent"), "dataset": dataset}

    def standard(self, version: str, name: str, file: str | None = None, /, **members: Any) -> Document:
        """A standard facet; `file` if its file has another name."""
        return self.custom(f"{_SPEC}/facets/{version}/{file or name}.json#/$defs/{name}", **members)

    def custom(self, schema_url: str | None = None, /, **members: Any) -> Document:
        """A custom facet. Without a schema URL it uses that of its base, as the Java client does."""
        return {"_producer": self.producer, "_schemaURL": schema_url or self.schema_url("RunFacet"), **members}

    def parent(self, run_id: str, namespace: str, name: str, root: Document | None = None) -> Document:
        """The facet with the parent run."""
        members = {"run": {"runId": run_id}, "job": {"namespace": namespace, "name": name}}
        return self.standard("1-2-0", "ParentRunFacet", **members, **({"root": root} if root else {}))

    def engine(self, name: str, version: str) -> Document:
        """The facet with the processing engine."""
        adapter = {"openlineageAdapterVersion": "1.42.0"}
        return self.standard("1-1-1", "ProcessingEngineRunFacet", name=name, version=version, **adapter)

    def job_type(self, processing: str, integration: str, kind: str) -> Document:
        """The facet with the job type."""
        members = {"processingType": processing, "integration": integration, "jobType": kind}
        return self.standard("2-0-4", "JobTypeJobFacet", **members)

    def schema(self, **types: str) -> Document:
        """The facet with the columns of a dataset."""
        fields = [{"name": name, "type": kind} for name, kind in types.items()]
        return self.standard("1-2-0", "SchemaDatasetFacet", fields=fields)

    def source(self, uri: str) -> Document:
        """The facet with the source of a dataset."""
        return self.standard("1-0-1", "DatasourceDatasetFacet", name=uri, uri=uri)

    def sql(self, query: str, dialect: str) -> Document:
        """The facet with the query of a job."""
        return self.standard("1-1-0", "SQLJobFacet", query=query, dialect=dialect)

    def schema_url(self, kind: str) -> str:
        """The schema URL of a kind of event or facet."""
        return f"{_SPEC}/{self.spec}/OpenLineage.json" + (f"{self.definitions}{kind}" if self.definitions else "")

    def _signed(self, kind: str) -> Document:
        return {"producer": self.producer, "schemaURL": self.schema_url(kind)}
