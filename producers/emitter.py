"""The emitter: a run's life cycle as OpenLineage events, each sealed in an envelope."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from itertools import count

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import error_message_run
from openlineage.client.generated.base import RunFacet, set_producer
from openlineage.client.serde import Serde
from openlineage.client.uuid import generate_new_uuid

from lineproof.producers.facets import AccountingLedgerRunFacet
from lineproof.producers.publisher import Publisher
from lineproof.producers.sanitise import sanitise
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.openlineage import parse

PRODUCER = "urn:lineproof:emitter:0.1.0"


class Emitter:
    """Publishes events of one namespace. `sequence` counts them from 0, so that a gap can be seen."""

    def __init__(self, publisher: Publisher, namespace: str, producer: str = PRODUCER) -> None:
        self._publisher = publisher
        self._namespace = namespace
        self._producer = producer
        self._emitter_id = str(uuid.uuid4())
        self._sequence = count()
        set_producer(producer)

    def start(
        self,
        job_name: str,
        *,
        inputs: Sequence[ol.InputDataset] = (),
        facets: Mapping[str, RunFacet] | None = None,
        at: datetime | None = None,
    ) -> "Run":
        """Begin a run: publish START, and return the run to end it by."""
        run = self.prepare(job_name)
        run.emit(ol.RunState.START, inputs=inputs, facets=facets, at=at)
        return run

    def prepare(self, job_name: str) -> "Run":
        """A run of which nothing is published yet."""
        return Run(self, ol.Job(namespace=self._namespace, name=job_name))

    def publish(self, event: ol.RunEvent | ol.DatasetEvent | ol.JobEvent) -> bytes:
        """Publish an OpenLineage event of any kind, and return its JSON as it was sent."""
        event.producer = event.producer or self._producer
        payload = Serde.to_json(event).encode()
        self.publish_json(payload)
        return payload

    def publish_json(self, payload: bytes) -> None:
        """Publish an event that is JSON already, byte for byte, once it is known to be valid."""
        event = parse(payload)
        envelope = Envelope.seal(event, self._emitter_id, next(self._sequence))
        self._publisher.publish(event.key, envelope.encode())


class Run:
    """One run, under one UUIDv7."""

    def __init__(self, emitter: Emitter, job: ol.Job) -> None:
        self.run_id = str(generate_new_uuid())
        self._emitter = emitter
        self._job = job

    def complete(
        self,
        *,
        outputs: Sequence[ol.OutputDataset] = (),
        ledger: AccountingLedgerRunFacet | None = None,
        at: datetime | None = None,
    ) -> None:
        """End the run well."""
        facets = {ledger.KEY: ledger} if ledger else None
        self.emit(ol.RunState.COMPLETE, outputs=outputs, facets=facets, at=at)

    def fail(self, error: str, *, at: datetime | None = None) -> None:
        """End the run with an error, from which secrets and personal data are taken out."""
        message = error_message_run.ErrorMessageRunFacet(message=sanitise(error), programmingLanguage="python")
        self.emit(ol.RunState.FAIL, facets={"errorMessage": message}, at=at)

    def abort(self, *, at: datetime | None = None) -> None:
        """End the run because somebody stopped it."""
        self.emit(ol.RunState.ABORT, at=at)

    def emit(
        self,
        state: ol.RunState,
        *,
        inputs: Sequence[ol.InputDataset] = (),
        outputs: Sequence[ol.OutputDataset] = (),
        facets: Mapping[str, RunFacet] | None = None,
        at: datetime | None = None,
    ) -> bytes:
        """Publish one event of this run, and return its JSON as it was sent."""
        return self._emitter.publish(
            ol.RunEvent(
                eventType=state,
                eventTime=(at or datetime.now(timezone.utc)).isoformat(),
                run=ol.Run(runId=self.run_id, facets=dict(facets or {})),
                job=self._job,
                inputs=list(inputs),
                outputs=list(outputs),
            )
        )
