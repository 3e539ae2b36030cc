"""The emitter: publishes runs, jobs and datasets as OpenLineage events.

An invalid definition raises where it is written. Emission never raises and never waits for the network: whatever
cannot be sent is logged and counted. Only `strict` mode raises.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

from openlineage.client import event_v2 as ol

from lineproof.producers.chain import Chain
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.decorator import Function, decorated
from lineproof.producers.event_sink import EmitterStats, EventSink
from lineproof.producers.events import EventBuilder, Facets, JobDescription, documentation_facet
from lineproof.producers.lineage_mode import LineageMode
from lineproof.producers.naming import NamespaceMode, check_job_name, check_namespace
from lineproof.producers.run import Run
from lineproof.producers.transports.base import Transport
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.facets import FacetRegistry

PRODUCER = f"urn:lineproof:emitter:{version('lineproof')}"


class AmbiguousJob(LineproofError):
    """Two functions use the same job name."""


class Emitter:
    """Publishes the events of one namespace."""

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        *,
        producer: str = PRODUCER,
        facets: FacetRegistry | None = None,
        chain: Chain | None = None,
        lineage_mode: LineageMode = LineageMode.KEY_DERIVABLE,
        telemetry_off: Collection[str] = (),
        strict: bool = False,
    ) -> None:
        if namespace:  # empty for an emitter that only forwards events of others
            check_namespace(namespace, NamespaceMode.DATA_MESH if "." in namespace else NamespaceMode.SIMPLE)
        registry = facets or FacetRegistry.standard()
        self._namespace = namespace
        self._chain = chain
        self._lineage_mode = lineage_mode
        self._telemetry_off = telemetry_off
        self._builder = EventBuilder(producer, registry)
        self._sink = EventSink(transport, registry, strict=strict)
        self._jobs: dict[str, Callable[..., Any]] = {}

    def run(
        self,
        name: str,
        *,
        inputs: Sequence[DatasetName | ol.InputDataset] = (),
        facets: Facets | None = None,
        documentation: str | None = None,
        job_facets: Facets | None = None,
        lineage_mode: LineageMode | None = None,
    ) -> Run:
        """Create a run of the job `name`. Use it in a `with` block, or call `start` and one of its end methods.

        `documentation` is a text about the job, or a URL.
        """
        with self._sink.guard():
            check_job_name(name)
        job = self._job(name, documentation, job_facets, lineage_mode)
        return Run(
            *(self._sink, self._builder, job, inputs, facets or {}),
            chain=self._chain,
            telemetry_off=self._telemetry_off,
        )

    def job(self, name: str, **options: Any) -> Callable[[Function], Function]:
        """Decorator: every call of the function, plain or async, is a run of the job `name`. Takes `run`'s options."""
        check_job_name(name)

        def decorate(function: Function) -> Function:
            if name in self._jobs:
                raise AmbiguousJob(
                    f"The job {name} of the namespace {self._namespace} is {self._jobs[name].__qualname__} already, "
                    f"so it cannot be {function.__qualname__}.",
                    "Give each job its own name.",
                )
            self._jobs[name] = function
            return decorated(function, lambda: self.run(name, **options))

        return decorate

    def declare_job(
        self,
        name: str,
        *,
        inputs: Sequence[ol.InputDataset] = (),
        outputs: Sequence[ol.OutputDataset] = (),
        documentation: str | None = None,
        job_facets: Facets | None = None,
    ) -> None:
        """Publish a JOB event: metadata of a job without a run."""
        with self._sink.guard():
            check_job_name(name)
            job = self._job(name, documentation, job_facets, None)
            self._sink.publish(self._builder.job_event(_now(), job, inputs, outputs))

    def declare_dataset(self, dataset: ol.StaticDataset) -> None:
        """Publish a DATASET event: metadata of a dataset without a job."""
        with self._sink.guard():
            self._sink.publish(self._builder.dataset_event(_now(), dataset))

    def publish_json(self, payload: bytes) -> None:
        """Publish an event built elsewhere, byte for byte. Raises InvalidEvent if it is not OpenLineage."""
        self._sink.publish_json(payload)

    @property
    def stats(self) -> EmitterStats:
        """Counts of events so far."""
        return self._sink.stats

    def flush(self, timeout_s: float = 30) -> bool:
        """Wait until everything is delivered. Returns False on timeout; the rest stays in the spool."""
        return self._sink.flush(timeout_s)

    def close(self, timeout_s: float = 5) -> bool:
        """Flush and stop. Called automatically when the process exits."""
        return self._sink.close(timeout_s)

    def _job(
        self, name: str, documentation: str | None, facets: Facets | None, mode: LineageMode | None
    ) -> JobDescription:
        documented = {"documentation": documentation_facet(documentation)} if documentation else {}
        return JobDescription(self._namespace, name, {**documented, **(facets or {})}, mode or self._lineage_mode)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()
