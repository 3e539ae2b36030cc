"""The emitter: runs, jobs and datasets as OpenLineage events, each checked and sealed in an envelope.

What is wrong with a definition raises where it is defined. Emission never raises and never waits for the network: what
cannot be sent as it is, is logged and counted. Only `strict` makes it raise.
"""

import logging
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from openlineage.client import event_v2 as ol

from lineproof.producers import metrics
from lineproof.producers.chain import Chain
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.decorator import Function, decorated
from lineproof.producers.delivery import on_terminate
from lineproof.producers.document import payload_of
from lineproof.producers.events import Document, EventBuilder, Facets, Job, documentation_facet
from lineproof.producers.lineage_mode import LineageMode
from lineproof.producers.naming import NamespaceMode, check_job_name, check_namespace
from lineproof.producers.run import Run
from lineproof.producers.transports.base import Stats, Transport
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.openlineage import Event, InvalidEvent, event_of, parse
from lineproof.schemas.sanitise import sanitise

log = logging.getLogger(__name__)

PRODUCER = "urn:lineproof:emitter:0.1.0"

_emitters: "weakref.WeakSet[Emitter]" = weakref.WeakSet()


class AmbiguousJob(LineproofError):
    """Two functions under one job name."""


class NoChain(LineproofError):
    """A certificate without a chain to seal it into."""


@dataclass(frozen=True)
class EmitterStats:
    """What became of the events so far."""

    emitted: int
    refused: int
    delivery: Stats


class Emitter:
    """Publishes the events of one namespace. `sequence` counts them from 0, so that a gap can be seen."""

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
        if namespace:  # who only passes on the events of others has none
            check_namespace(namespace, NamespaceMode.DATA_MESH if "." in namespace else NamespaceMode.SIMPLE)
        self.strict = strict
        self._chain = chain
        self.telemetry_off = telemetry_off
        self._transport = transport
        self._namespace = namespace
        self._lineage_mode = lineage_mode
        self._registry = facets or FacetRegistry.standard()
        self._builder = EventBuilder(producer, self._registry)
        self._jobs: dict[str, Callable[..., Any]] = {}
        self._open_runs: weakref.WeakSet[Run] = weakref.WeakSet()
        self._emitted = self._refused = 0
        self._begin_life()
        _emitters.add(self)
        metrics.export(_emitters)

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
        """A run of the job `name`: use it in a `with` block, or call its `start` and one of its ends.

        `documentation` is a text about the job, or the URL of one.
        """
        with self.guard():
            check_job_name(name)
        return Run(self, self._job(name, documentation, job_facets, lineage_mode), inputs, facets or {})

    def job(self, name: str, **options: Any) -> Callable[[Function], Function]:
        """Make every call of a function, plain or async, a run of the job `name`. Options are those of `run`."""
        check_job_name(name)

        def decorate(function: Function) -> Function:
            if name in self._jobs:
                raise AmbiguousJob(
                    f"The job {name} of the namespace {self._namespace} is {self._jobs[name].__qualname__} already, "
                    f"so it cannot be {function.__qualname__}.",
                    "Give each job a name of its own.",
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
        """Publish a JOB event: what a job is, apart from any run."""
        with self.guard():
            check_job_name(name)
            job = self._job(name, documentation, job_facets, None)
            self.publish(self._builder.job_event(_now(), job, inputs, outputs))

    def declare_dataset(self, dataset: ol.StaticDataset) -> None:
        """Publish a DATASET event: what a dataset is, apart from any job."""
        with self.guard():
            self.publish(self._builder.dataset_event(_now(), dataset))

    def publish_run(
        self,
        run: Run,
        event_type: str,
        at: datetime | None,
        facets: Facets,
        inputs: Sequence[ol.InputDataset],
        outputs: Sequence[ol.OutputDataset],
    ) -> None:
        """Publish one event of a run."""
        time = at.isoformat() if at else _now()
        document = self._builder.run_event(event_type, time, run.run_id, facets, run.job, inputs, outputs)
        self.publish(document, run.trace_id)

    def publish(self, document: Document, trace_id: str | None = None) -> None:
        """Publish an event made here: its facets are checked too, and those that are not valid are left out."""
        for problem in self._registry.problems(document):
            self.refuse(InvalidEvent(f"The facet {problem}. It was not sent.", "Correct the facet."))
            problem.group.pop(problem.key, None)
        self._send(event_of(document, payload_of(document)), trace_id)

    def publish_json(self, payload: bytes) -> None:
        """Publish an event that somebody else made, byte for byte; raises InvalidEvent where it is none."""
        self._send(parse(payload), None)

    @property
    def certificate_chain(self) -> Chain:
        """The chain that this emitter's certificates are sealed into."""
        if self._chain is None:
            raise NoChain(
                "This emitter keeps no certificate chain, so nothing can be certified.",
                "Give it one: Emitter(…, chain=Chain(file)).",
            )
        return self._chain

    @property
    def stats(self) -> EmitterStats:
        """What became of the events so far."""
        return EmitterStats(self._emitted, self._refused, self._transport.stats)

    def flush(self, timeout_s: float = 30) -> bool:
        """Wait until everything is delivered; False when time ran out (what is left stays in the spool)."""
        return self._transport.flush(timeout_s)

    def close(self, timeout_s: float = 5) -> bool:
        """Flush and stop. Called by itself when the process ends."""
        return self._transport.close(timeout_s)

    @contextmanager
    def guard(self, *, always: bool = False) -> Iterator[None]:
        """Keep what goes wrong with lineage away from the service: logged and counted, raised only in strict mode."""
        try:
            yield
        except Exception as error:
            if self.strict and not always:
                raise
            self._refused += 1
            # Without the traceback, whose values nobody has sanitised.
            log.error("Lineage was not sent as asked: %s", sanitise(str(error)))  # noqa: TRY400

    def opened(self, run: Run) -> None:
        """Remember a run, to end it when the process is stopped."""
        self._open_runs.add(run)

    def closed(self, run: Run) -> None:
        """Forget a run that has ended."""
        self._open_runs.discard(run)

    def abort_open_runs(self) -> None:
        """End every open run as aborted: the process is being stopped."""
        for run in list(self._open_runs):
            run.abort()

    def _job(self, name: str, documentation: str | None, facets: Facets | None, mode: LineageMode | None) -> Job:
        described = {"documentation": documentation_facet(documentation)} if documentation else {}
        return Job(self._namespace, name, {**described, **(facets or {})}, mode or self._lineage_mode)

    def refuse(self, error: Exception) -> None:
        """Log and count what was left out; raise it in strict mode."""
        with self.guard():
            raise error

    def _send(self, event: Event, trace_id: str | None) -> None:
        with self._lock:
            envelope = Envelope.seal(event, self._emitter_id, self._sequence, trace_id)
            self._sequence += 1
            self._emitted += 1
            self._transport.publish(event.key, envelope)

    def _begin_life(self) -> None:
        # A signal may come while its own thread holds the lock, and its handler emits too.
        self._lock = threading.RLock()
        self._emitter_id = str(uuid.uuid4())
        self._sequence = 0


def _begin_lives_after_fork() -> None:
    for emitter in _emitters:
        emitter._begin_life()
        emitter._open_runs.clear()  # they are the parent's


def _abort_open_runs() -> None:
    for emitter in list(_emitters):
        emitter.abort_open_runs()


os.register_at_fork(after_in_child=_begin_lives_after_fork)
on_terminate.append(_abort_open_runs)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()
