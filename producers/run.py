"""One run of a job, from START to its end."""

import time
import traceback
from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from datetime import datetime, timezone
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import error_message_run, parent_run
from openlineage.client.uuid import generate_new_uuid

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset, output_dataset, strict_problems
from lineproof.producers.events import Facets, Job
from lineproof.producers.facets import CdmeFidelityCertificateRunFacet, ProgressRunFacet
from lineproof.producers.ledger import Ledger
from lineproof.producers.lineage_mode import LineageRecord
from lineproof.producers.telemetry import Morphism, Telemetry
from lineproof.producers.tracing import current_trace_id
from lineproof.schemas.certificates import Certificate
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.sanitise import sanitise

if TYPE_CHECKING:
    from lineproof.producers.emitter import Emitter

PROGRESS_INTERVAL_S = 1.0

Dataset = TypeVar("Dataset", ol.InputDataset, ol.OutputDataset)

_current: ContextVar["Run | None"] = ContextVar("lineproof_run", default=None)


class IncompleteLineage(LineproofError):
    """Strict mode: a dataset lacks what its readers need."""


class RunHasEnded(LineproofError):
    """An end for a run that has one."""


def current_run() -> "Run | None":
    """The run whose `with` block or decorated function is being executed."""
    return _current.get()


class Run:
    """A run, under one UUIDv7. As a context manager it begins and ends itself; an exception ends it and goes on."""

    def __init__(
        self, emitter: "Emitter", job: Job, inputs: Sequence[DatasetName | ol.InputDataset], facets: Facets
    ) -> None:
        self.run_id = str(generate_new_uuid())
        self.job = job
        self.ledger = Ledger()
        self.lineage = LineageRecord(job.lineage_mode)
        self._emitter = emitter
        self._parent = current_run()
        self.trace_id = current_trace_id()
        self._telemetry = Telemetry(emitter.telemetry_off)
        self._inputs: list[ol.InputDataset] = []
        self._outputs: list[ol.OutputDataset] = []
        self._facets: dict[str, Any] = dict(facets)
        self._last_progress = -PROGRESS_INTERVAL_S
        self.state: str | None = None
        self._token: Token[Run | None] | None = None
        for dataset in inputs:
            self.add_input(dataset)

    def start(self, *, at: datetime | None = None) -> "Run":
        """Publish START, with the inputs known so far."""
        with self._emitter.guard():
            self._refuse_incomplete(ended=False)
            if self._parent is not None:
                self._facets["parent"] = _parent_facet(self._parent)
            self.state = "START"
            self._emitter.opened(self)
            left_out = self._publish("START", at, self._facets, self._inputs)
            if left_out:
                self._emitter.refuse(left_out)
        return self

    @property
    def has_ended(self) -> bool:
        """Whether COMPLETE, FAIL or ABORT was sent; `state` says which."""
        return self.state not in (None, "START")

    def add_input(self, dataset: DatasetName | ol.InputDataset, **details: Any) -> None:
        """An input, or more about one that was given before; sent with the end.

        Details of a name are those of `input_dataset`.
        """
        with self._emitter.guard():
            added = input_dataset(dataset, **details) if isinstance(dataset, DatasetName) else dataset
            self._inputs = [*_others(self._inputs, added), added]

    def add_output(self, dataset: DatasetName | ol.OutputDataset, **details: Any) -> None:
        """What the run wrote, or more about it; sent with COMPLETE.

        Details of a name are those of `output_dataset`: schema, row_count, size, column_lineage, …
        """
        with self._emitter.guard():
            added = output_dataset(dataset, **details) if isinstance(dataset, DatasetName) else dataset
            self._outputs = [*_others(self._outputs, added), added]

    def add_facet(self, key: str, facet: Any) -> None:
        """A run facet, an OpenLineage object or a plain mapping; sent with the end."""
        self._facets[key] = facet

    def morphism(self, name: str) -> Morphism:
        """A step of this run whose rows, time and quality are sent with the end."""
        return self._telemetry.morphism(name)

    def progress(self, percent: float | None = None, records: int | None = None, *, at: datetime | None = None) -> None:
        """Publish RUNNING with how far the run is; at most once a second, so that loops may call it freely."""
        now = time.monotonic()
        if at is None and now - self._last_progress < PROGRESS_INTERVAL_S:
            return
        self._last_progress = now
        with self._emitter.guard():
            facet = ProgressRunFacet(percentComplete=percent, recordsProcessed=records)
            self._emitter.publish_run(self, "RUNNING", at, {facet.KEY: facet}, (), ())

    def certify(
        self,
        *,
        source_state_hash: str,
        target_state_hash: str,
        contract_version: str,
        invariants: Mapping[str, bool],
        materiality_thresholds: Mapping[str, str] | None = None,
    ) -> Certificate | None:
        """Seal a certificate into the chain, on disk before this returns; it is sent at once and with the end."""
        with self._emitter.guard():
            certificate = self._emitter.certificate_chain.append(
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
            # At once as well: a run that is killed before its end would leave a gap in the chain that others see.
            self._emitter.publish_run(self, "OTHER", None, {facet.KEY: facet}, (), ())
            return certificate
        return None

    def complete(self, *, at: datetime | None = None) -> None:
        """End the run well; where the ledger does not balance, end it as failed, with the difference."""
        self.ledger.close(is_successful=True)
        if self.ledger.is_kept and self.ledger.difference:
            self.fail(f"The ledger does not balance: {self.ledger}.", at=at)
            return
        with self._emitter.guard():
            try:
                self._refuse_incomplete(ended=True)
                self._end("COMPLETE", at, self.lineage.attached_to(self._outputs))
            except Exception as error:
                if not self.has_ended:
                    self.fail(error, at=at)
                raise

    def fail(self, error: BaseException | str, *, at: datetime | None = None) -> None:
        """End the run with an error, from which secrets and personal data are taken out."""
        with self._emitter.guard():
            self.ledger.close(is_successful=False)
            self._facets["errorMessage"] = _error_facet(error)
            self._end("FAIL", at)

    def abort(self, *, at: datetime | None = None) -> None:
        """End the run because somebody stopped it."""
        with self._emitter.guard():
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
        # Whatever happens here, the caller gets the exception it would have got without us.
        with self._emitter.guard(always=True):
            self.fail(error) if isinstance(error, Exception) else self.abort()

    def _complete_or_abort(self) -> None:
        try:
            self.complete()
        except BaseException:
            if not self.has_ended:  # Ctrl-C in the midst of it
                self.abort()
            raise

    def _end(self, event_type: str, at: datetime | None, outputs: Sequence[ol.OutputDataset] = ()) -> None:
        if self.has_ended:
            raise RunHasEnded(
                f"The run {self.run_id} of {self.job.name} has ended before this {event_type}.",
                "End a run once; inside a `with` block its end is sent by itself.",
            )
        measured = (self.ledger.facet() if self.ledger.is_kept else None, self._telemetry.facet())
        facets = {
            **self._facets,
            **self.lineage.run_facets(),
            **{facet.KEY: facet for facet in measured if facet is not None},
        }
        left_out = self._publish(event_type, at, facets, self._inputs, outputs)
        self.state = event_type
        self._emitter.closed(self)
        if left_out:
            self._emitter.refuse(left_out)

    def _publish(
        self,
        event_type: str,
        at: datetime | None,
        facets: Facets,
        inputs: Sequence[ol.InputDataset] = (),
        outputs: Sequence[ol.OutputDataset] = (),
    ) -> Exception | None:
        """Publish an event; no run loses its start or end to what was added to it. What was left out comes back."""
        try:
            self._emitter.publish_run(self, event_type, at, facets, inputs, outputs)
            return None
        except Exception as error:
            if self._emitter.strict and event_type in ("START", "COMPLETE"):
                raise
            bare: dict[str, Any] = {key: self._facets[key] for key in ("parent", "errorMessage") if key in self._facets}
            self._emitter.publish_run(self, event_type, at, bare, (), ())
            return error

    def _refuse_incomplete(self, *, ended: bool) -> None:
        if self._emitter.strict and (problems := strict_problems(self._inputs, self._outputs, ended=ended)):
            raise IncompleteLineage(
                f"The lineage of {self.job.name} is incomplete: {'; '.join(problems)}.",
                "Add what is missing, or switch strict mode off.",
            )


def _others(datasets: list[Dataset], added: Dataset) -> list[Dataset]:
    return [one for one in datasets if (one.namespace, one.name) != (added.namespace, added.name)]


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
