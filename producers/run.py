"""One run of a job, from START to its end."""

import os
import time
import traceback
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar, Token
from datetime import datetime, timezone
from types import TracebackType
from typing import Any, TypeVar

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import error_message_run, parent_run
from openlineage.client.uuid import generate_new_uuid

from lineproof.producers.chain import Chain, NoChain
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset, output_dataset, strict_problems
from lineproof.producers.delivery import on_terminate
from lineproof.producers.event_sink import EventSink
from lineproof.producers.events import EventBuilder, Facets, JobDescription
from lineproof.producers.facets import CdmeFidelityCertificateRunFacet, ProgressRunFacet
from lineproof.producers.ledger import Ledger
from lineproof.producers.lineage_mode import LineageRecord
from lineproof.producers.telemetry import Morphism, Telemetry
from lineproof.producers.tracing import current_trace_id
from lineproof.schemas.certificates import Certificate
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.sanitise import sanitise

PROGRESS_INTERVAL_S = 1.0

DatasetT = TypeVar("DatasetT", ol.InputDataset, ol.OutputDataset)

_current: ContextVar["Run | None"] = ContextVar("lineproof_run", default=None)
_open_runs: "weakref.WeakSet[Run]" = weakref.WeakSet()


class IncompleteLineage(LineproofError):
    """Strict mode: a dataset lacks metadata that its readers need."""


class RunHasEnded(LineproofError):
    """A second end for a run."""


def current_run() -> "Run | None":
    """The run whose `with` block or decorated function is being executed."""
    return _current.get()


def abort_open_runs() -> None:
    """End every open run as aborted. Called when SIGTERM ends the process."""
    for run in list(_open_runs):
        run.abort()


class Run:
    """A run, identified by a UUIDv7. As a context manager it starts and ends itself; an exception ends it as failed.

    Each event takes one way: the builder makes the document, the sink seals and sends it.
    """

    def __init__(
        self,
        sink: EventSink,
        builder: EventBuilder,
        job: JobDescription,
        inputs: Sequence[DatasetName | ol.InputDataset] = (),
        facets: Facets | None = None,
        *,
        chain: Chain | None = None,
        telemetry_off: Collection[str] = (),
    ) -> None:
        self.run_id = str(generate_new_uuid())
        self.job = job
        self.ledger = Ledger()
        self.lineage = LineageRecord(job.lineage_mode)
        self.trace_id = current_trace_id()
        self.state: str | None = None
        self._sink = sink
        self._builder = builder
        self._chain = chain
        self._parent = current_run()
        self._telemetry = Telemetry(telemetry_off)
        self._inputs: list[ol.InputDataset] = []
        self._outputs: list[ol.OutputDataset] = []
        self._facets: dict[str, Any] = dict(facets or {})
        self._last_progress = -PROGRESS_INTERVAL_S
        self._token: Token[Run | None] | None = None
        for dataset in inputs:
            self.add_input(dataset)

    def start(self, *, at: datetime | None = None) -> "Run":
        """Publish START with the inputs known so far."""
        with self._sink.guard():
            self._refuse_incomplete(ended=False)
            if self._parent is not None:
                self._facets["parent"] = _parent_facet(self._parent)
            self.state = "START"
            _open_runs.add(self)
            if error := self._publish_or_reduce("START", at, self._facets, self._inputs):
                self._sink.report(error)
        return self

    @property
    def has_ended(self) -> bool:
        """Whether COMPLETE, FAIL or ABORT was sent; `state` says which."""
        return self.state not in (None, "START")

    def add_input(self, dataset: DatasetName | ol.InputDataset, **details: Any) -> None:
        """Add an input, or replace the metadata of an input added before. Sent with the end event.

        For a `DatasetName`, the details are the options of `input_dataset`.
        """
        with self._sink.guard():
            added = input_dataset(dataset, **details) if isinstance(dataset, DatasetName) else dataset
            self._inputs = [*_others(self._inputs, added), added]

    def add_output(self, dataset: DatasetName | ol.OutputDataset, **details: Any) -> None:
        """Add an output, or replace the metadata of an output added before. Sent with COMPLETE.

        For a `DatasetName`, the details are the options of `output_dataset`: schema, row_count, size, …
        """
        with self._sink.guard():
            added = output_dataset(dataset, **details) if isinstance(dataset, DatasetName) else dataset
            self._outputs = [*_others(self._outputs, added), added]

    def add_facet(self, key: str, facet: Any) -> None:
        """Add a run facet, an OpenLineage object or a plain mapping. Sent with the end event."""
        self._facets[key] = facet

    def morphism(self, name: str) -> Morphism:
        """A step of this run. Its rows, time and quality are sent with the end event."""
        return self._telemetry.morphism(name)

    def progress(self, percent: float | None = None, records: int | None = None, *, at: datetime | None = None) -> None:
        """Publish RUNNING with the progress, at most once a second, so that loops may call it freely."""
        now = time.monotonic()
        if at is None and now - self._last_progress < PROGRESS_INTERVAL_S:
            return
        self._last_progress = now
        with self._sink.guard():
            facet = ProgressRunFacet(percentComplete=percent, recordsProcessed=records)
            self._publish("RUNNING", at, {facet.KEY: facet})

    def certify(
        self,
        *,
        source_state_hash: str,
        target_state_hash: str,
        contract_version: str,
        invariants: Mapping[str, bool],
        materiality_thresholds: Mapping[str, str] | None = None,
    ) -> Certificate | None:
        """Append a certificate to the chain. It is on disk before this returns, and sent now and with the end event."""
        with self._sink.guard():
            if self._chain is None:
                raise NoChain(
                    "This emitter has no certificate chain, so nothing can be certified.",
                    "Give it a chain: Emitter(…, chain=Chain(file)).",
                )
            certificate = self._chain.append(
                Certificate(
                    certificate_id=str(generate_new_uuid()),
                    source_state_hash=source_state_hash,
                    target_state_hash=target_state_hash,
                    contract_version=contract_version,
                    invariants=invariants,
                    materiality_thresholds=materiality_thresholds or {},
                    timestamp=_now().isoformat(),
                    run_id=self.run_id,
                    previous_hash="",
                )
            )
            facet = CdmeFidelityCertificateRunFacet.from_certificate(certificate)
            self.add_facet(facet.KEY, facet)
            # Sent now as well: a run that is killed before its end would leave a gap in the published chain.
            self._publish("OTHER", None, {facet.KEY: facet})
            return certificate
        return None

    def complete(self, *, at: datetime | None = None) -> None:
        """End the run as complete. If the ledger does not balance, end it as failed and report the difference."""
        self.ledger.close(is_successful=True)
        if self.ledger.is_kept and self.ledger.difference:
            self.fail(f"The ledger does not balance: {self.ledger}.", at=at)
            return
        with self._sink.guard():
            try:
                self._refuse_incomplete(ended=True)
                self._end("COMPLETE", at, self.lineage.with_adjoint_facets(self._outputs))
            except Exception as error:
                if not self.has_ended:
                    self.fail(error, at=at)
                raise

    def fail(self, error: BaseException | str, *, at: datetime | None = None) -> None:
        """End the run as failed. Secrets and personal data are removed from the error message."""
        with self._sink.guard():
            self.ledger.close(is_successful=False)
            self._facets["errorMessage"] = _error_facet(error)
            self._end("FAIL", at)

    def abort(self, *, at: datetime | None = None) -> None:
        """End the run as aborted: somebody stopped it."""
        with self._sink.guard():
            self.ledger.close(is_successful=False)
            self._end("ABORT", at)

    def __enter__(self) -> "Run":
        if self.state is None:
            self.start()
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
        if self.has_ended:
            return
        if error is None:
            self._complete_or_abort()
            return
        # The caller must get its own exception, whatever happens here.
        with self._sink.guard(always=True):
            self.fail(error) if isinstance(error, Exception) else self.abort()

    def _complete_or_abort(self) -> None:
        try:
            self.complete()
        except BaseException:
            if not self.has_ended:  # Ctrl-C during complete()
                self.abort()
            raise

    def _end(self, event_type: str, at: datetime | None, outputs: Sequence[ol.OutputDataset] = ()) -> None:
        if self.has_ended:
            raise RunHasEnded(
                f"The run {self.run_id} of {self.job.name} ended before this {event_type}.",
                "End a run once. A `with` block sends the end automatically.",
            )
        measured = (self.ledger.facet() if self.ledger.is_kept else None, self._telemetry.facet())
        facets = {
            **self._facets,
            **self.lineage.run_facets(),
            **{facet.KEY: facet for facet in measured if facet is not None},
        }
        error = self._publish_or_reduce(event_type, at, facets, self._inputs, outputs)
        self.state = event_type
        _open_runs.discard(self)
        if error:
            self._sink.report(error)

    def _publish_or_reduce(
        self,
        event_type: str,
        at: datetime | None,
        facets: Facets,
        inputs: Sequence[ol.InputDataset],
        outputs: Sequence[ol.OutputDataset] = (),
    ) -> Exception | None:
        """Publish an event. If its content cannot be sent, publish it without, and return the error.

        A run must not lose its start or end because of an invalid facet or dataset.
        """
        try:
            self._publish(event_type, at, facets, inputs, outputs)
            return None
        except Exception as error:
            if self._sink.strict and event_type in ("START", "COMPLETE"):
                raise
            self._publish(event_type, at, {key: facets[key] for key in ("parent", "errorMessage") if key in facets})
            return error

    def _publish(
        self,
        event_type: str,
        at: datetime | None,
        facets: Facets,
        inputs: Sequence[ol.InputDataset] = (),
        outputs: Sequence[ol.OutputDataset] = (),
    ) -> None:
        event_time = (at or _now()).isoformat()
        document = self._builder.run_event(event_type, event_time, self.run_id, facets, self.job, inputs, outputs)
        self._sink.publish(document, self.trace_id)

    def _refuse_incomplete(self, *, ended: bool) -> None:
        if self._sink.strict and (problems := strict_problems(self._inputs, self._outputs, ended=ended)):
            raise IncompleteLineage(
                f"The lineage of {self.job.name} is incomplete: {'; '.join(problems)}.",
                "Add what is missing, or switch strict mode off.",
            )


def _others(datasets: list[DatasetT], added: DatasetT) -> list[DatasetT]:
    return [dataset for dataset in datasets if (dataset.namespace, dataset.name) != (added.namespace, added.name)]


def _parent_facet(parent: Run) -> parent_run.ParentRunFacet:
    root = parent
    while root._parent is not None:
        root = root._parent
    return parent_run.ParentRunFacet(
        run=parent_run.Run(runId=parent.run_id),
        job=parent_run.Job(namespace=parent.job.namespace, name=parent.job.name),
        root=parent_run.Root(
            run=parent_run.RootRun(runId=root.run_id),
            job=parent_run.RootJob(namespace=root.job.namespace, name=root.job.name),
        ),
    )


def _error_facet(error: BaseException | str) -> error_message_run.ErrorMessageRunFacet:
    if isinstance(error, str):
        return error_message_run.ErrorMessageRunFacet(message=sanitise(error), programmingLanguage="python")
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return error_message_run.ErrorMessageRunFacet(
        message=sanitise(message), programmingLanguage="python", stackTrace=sanitise(trace)
    )


def _now() -> datetime:
    return datetime.now(timezone.utc)


os.register_at_fork(after_in_child=_open_runs.clear)  # open runs belong to the parent
on_terminate.append(abort_open_runs)
