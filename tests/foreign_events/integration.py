"""What the events of one integration share: who made them, by which specification, and how they are written."""

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
    """As the Java client writes: members in the order they were set, no blanks, UTF-8."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Integration:
    """Makes the events and the facets of one producer."""

    producer: str
    write: Callable[[Document], bytes]
    spec: str = "2-0-2"
    definitions: str = "#/$defs/"
    """How an address goes on behind the file: generations differ, and some stop at the file."""

    def run_event(
        self,
        event_type: str | None,
        time: str,
        run: Document,
        job: Document,
        inputs: Sequence[Document] = (),
        outputs: Sequence[Document] = (),
    ) -> Document:
        """An event of a run; without a type where that is None."""
        typed = {} if event_type is None else {"eventType": event_type}
        parts = {"run": run, "job": job, "inputs": list(inputs), "outputs": list(outputs)}
        return {"eventTime": time, **self._signed("RunEvent"), **typed, **parts}

    def job_event(self, time: str, job: Document, inputs: Sequence[Document], outputs: Sequence[Document]) -> Document:
        """What is known of a job although it does not run."""
        parts = {"job": job, "inputs": list(inputs), "outputs": list(outputs)}
        return {"eventTime": time, **self._signed("JobEvent"), **parts}

    def dataset_event(self, time: str, dataset: Document) -> Document:
        """What is known of a dataset although nothing reads or writes it."""
        return {"eventTime": time, **self._signed("DatasetEvent"), "dataset": dataset}

    def standard(self, version: str, name: str, file: str | None = None, /, **members: Any) -> Document:
        """A facet of the specification; `file` where its file is not named after it."""
        return self.custom(f"{_SPEC}/facets/{version}/{file or name}.json#/$defs/{name}", **members)

    def custom(self, schema_url: str | None = None, /, **members: Any) -> Document:
        """A facet of one's own; without an address of its own it names its base, as the Java client does."""
        return {"_producer": self.producer, "_schemaURL": schema_url or self.address("RunFacet"), **members}

    def parent(self, run_id: str, namespace: str, name: str, root: Document | None = None) -> Document:
        """The facet that links a run to the one that started it."""
        members = {"run": {"runId": run_id}, "job": {"namespace": namespace, "name": name}}
        return self.standard("1-2-0", "ParentRunFacet", **members, **({"root": root} if root else {}))

    def engine(self, name: str, version: str) -> Document:
        """The facet that says what executes the run."""
        adapter = {"openlineageAdapterVersion": "1.42.0"}
        return self.standard("1-1-1", "ProcessingEngineRunFacet", name=name, version=version, **adapter)

    def job_type(self, processing: str, integration: str, kind: str) -> Document:
        """The facet that says what kind of job it is."""
        members = {"processingType": processing, "integration": integration, "jobType": kind}
        return self.standard("2-0-4", "JobTypeJobFacet", **members)

    def schema(self, **types: str) -> Document:
        """The facet that lists the columns of a dataset."""
        fields = [{"name": name, "type": kind} for name, kind in types.items()]
        return self.standard("1-2-0", "SchemaDatasetFacet", fields=fields)

    def source(self, uri: str) -> Document:
        """The facet that says where a dataset lives."""
        return self.standard("1-0-1", "DatasourceDatasetFacet", name=uri, uri=uri)

    def sql(self, query: str, dialect: str) -> Document:
        """The facet that holds a job's query."""
        return self.standard("1-1-0", "SQLJobFacet", query=query, dialect=dialect)

    def address(self, kind: str) -> str:
        """Where the specification defines this kind of event or facet."""
        return f"{_SPEC}/{self.spec}/OpenLineage.json" + (f"{self.definitions}{kind}" if self.definitions else "")

    def _signed(self, kind: str) -> Document:
        return {"producer": self.producer, "schemaURL": self.address(kind)}
