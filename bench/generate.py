"""Generate events for benchmarks: reproducible, endless, and shaped like those of a data platform.

A few jobs run often and most run rarely. Runs overlap, fail, are retried and stay open. An event usually has about two
kilobytes and sometimes two hundred. Some producers use our emitter, others send plain OpenLineage JSON.
"""

import heapq
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import accumulate, islice
from random import Random
from typing import Any, Literal

from lineproof.producers.document import to_document
from lineproof.producers.facets import CdmeFidelityCertificateRunFacet
from lineproof.schemas.certificates import GENESIS, Certificate
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.openlineage import Event
from lineproof.schemas.record import Record

JOBS = 400
EMITTERS = 8
STARTED = datetime(2026, 1, 1, tzinfo=timezone.utc)
BETWEEN_RUNS_S = 0.05
RUNNING_SHARE, FAIL_SHARE, OPEN_SHARE, PLAIN_SHARE, CERTIFIED_SHARE = 0.1, 0.04, 0.005, 0.1, 0.03
RETRIED_SHARE, RETRIED_AFTER = 0.8, timedelta(seconds=20)
"""Most failed runs are retried, as new runs of the same job."""
RESEND_WINDOW = 10_000
"""A resend repeats one of this many records before it, as a producer's retry does."""

_PRODUCER = "https://example.com/etl"
_FACET = {"_producer": _PRODUCER, "_schemaURL": "https://example.com/Facet.json"}
_TIME, _RUN, _ROWS = "@time@", "@run@", '"@rows@"'
_LEDGER = '"cdme_accountingLedger":'
_POISON = (b"", b"no event", b"{", b'{"a": 1}', b"\xc3\x01 of another schema")


@dataclass(frozen=True)
class JobTemplate:
    """The parts of a job that all runs share: its names, and the JSON of its events with placeholders."""

    namespace: str
    name: str
    templates: dict[str, str]
    mean_s: float


class History:
    """Events in the order of their times. The same seed and shares give the same records.

    `resends` is the share of records that repeat an earlier record, `poison` the share of records that are not events.
    Run ids are UUIDv7, which begin with the time, or UUIDv4.
    """

    def __init__(
        self, seed: int = 2026, *, resends: float = 0.0, poison: float = 0.0, uuid_version: Literal[4, 7] = 7
    ) -> None:
        self._random = Random(seed)  # noqa: S311
        self._resends, self._poison, self._uuid_version = resends, poison, uuid_version
        self._jobs = [_job(number, self._random) for number in range(JOBS)]
        self._popularity = list(accumulate(1 / (rank + 1) for rank in range(JOBS)))
        self._emitters = [str(uuid.UUID(int=self._random.getrandbits(128), version=4)) for _ in range(EMITTERS)]
        self._sequences = [0] * EMITTERS
        self._last_hashes: dict[str, str] = {}

    def records(self, count: int, began: datetime = STARTED) -> Iterator[Record]:
        """Generate `count` records of runs that start at `began` or later."""
        return islice(self._with_resends_and_poison(began), count)

    def _with_resends_and_poison(self, began: datetime) -> Iterator[Record]:
        recent: list[Record] = []
        events = self._events(began)
        while True:
            chance = self._random.random()
            if chance < self._poison:
                yield Record(b"poison", self._random.choice(_POISON))
            elif recent and chance < self._poison + self._resends:
                yield self._random.choice(recent)
            else:
                record = next(events)
                if self._resends:
                    recent.append(record)
                    del recent[:-RESEND_WINDOW]
                yield record

    def _events(self, began: datetime) -> Iterator[Record]:
        """Keep a queue of future events; emit those that are due before the next run starts."""
        random, starts_at = self._random, began
        queue: list[tuple[datetime, int, JobTemplate, str, str]] = []
        number = 0
        while True:
            job = random.choices(self._jobs, cum_weights=self._popularity)[0]
            run_id = self._run_id(starts_at)
            length = timedelta(seconds=random.expovariate(1 / job.mean_s))
            steps = [("START", timedelta())]
            if random.random() < RUNNING_SHARE:
                steps.append(("RUNNING", length / 2))
            if random.random() >= OPEN_SHARE:
                fails = random.random() < FAIL_SHARE
                steps.append(("FAIL" if fails else "COMPLETE", length))
            coming = [(starts_at + after, run_id, kind) for kind, after in steps]
            if steps[-1][0] == "FAIL" and random.random() < RETRIED_SHARE:
                retried_at = starts_at + length + RETRIED_AFTER
                retry_id = self._run_id(retried_at)
                coming += [(retried_at, retry_id, "START"), (retried_at + length, retry_id, "COMPLETE")]
            for time, run_id, kind in coming:
                number += 1
                heapq.heappush(queue, (time, number, job, run_id, kind))
            while queue[0][0] <= starts_at:
                time, _, job, run_id, kind = heapq.heappop(queue)
                yield self._record(job, run_id, kind, time)
            starts_at += timedelta(seconds=random.expovariate(1 / BETWEEN_RUNS_S))

    def _run_id(self, time: datetime) -> str:
        if self._uuid_version == 4:
            return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        millis = int(time.timestamp() * 1000)
        return str(uuid.UUID(int=millis << 80 | 7 << 76 | 2 << 62 | self._random.getrandbits(62)))

    def _record(self, job: JobTemplate, run_id: str, kind: str, time: datetime) -> Record:
        rows = str(self._random.randrange(10**6))
        text = job.templates[kind].replace(_TIME, time.isoformat()).replace(_RUN, run_id).replace(_ROWS, rows)
        if kind == "COMPLETE" and self._random.random() < CERTIFIED_SHARE:
            certificate = self._certificate(job, run_id, time)
            text = text.replace(_LEDGER, f'"cdme_fidelityCertificate":{certificate},{_LEDGER}')
        payload = text.encode()
        if self._random.random() < PLAIN_SHARE:
            return Record(run_id.encode(), payload)
        emitter = self._random.randrange(EMITTERS)
        sequence = self._sequences[emitter]
        self._sequences[emitter] += 1
        event = Event(payload, "RUN", kind, time, run_id, job.namespace, job.name, None, None, _PRODUCER)
        return Record(run_id.encode(), Envelope.seal(event, self._emitters[emitter], sequence).encode())

    def _certificate(self, job: JobTemplate, run_id: str, time: datetime) -> str:
        sealed = Certificate(
            certificate_id=run_id,
            source_state_hash="5" * 64,
            target_state_hash="7" * 64,
            contract_version="1.4.0",
            invariants={"keys are unique": True, "sums agree": True},
            materiality_thresholds={"amount": "0.01"},
            timestamp=time.isoformat(),
            run_id=run_id,
            previous_hash=self._last_hashes.get(job.name, GENESIS),
        ).sealed()
        self._last_hashes[job.name] = sealed.chain_hash
        return json.dumps(to_document(CdmeFidelityCertificateRunFacet.from_certificate(sealed)), separators=(",", ":"))


def _job(number: int, random: Random) -> JobTemplate:
    namespace = f"team-{number % 12}.warehouse"
    name = f"{random.choice(['load', 'clean', 'join', 'report'])}_{number}"
    inputs = [random.randrange(JOBS * 3) for _ in range(1 + number % 2)]
    columns = [f"column_{column}" for column in range(random.choice([3, 4, 6]))]
    # One job in 40 has large events (12 kB), and one in 400 has events of 200 kB.
    plan = "x" * (200_000 if number % 400 == 399 else 12_000 if number % 40 == 39 else 150)
    job = {
        "namespace": namespace,
        "name": name,
        "facets": {
            "jobType": {**_FACET, "processingType": "BATCH", "integration": "SPARK", "jobType": "JOB"},
            "documentation": {**_FACET, "description": f"What {name} does, and for whom."},
            "ownership": {**_FACET, "owners": [{"name": f"team:team-{number % 12}", "type": "MAINTAINER"}]},
        },
    }
    facets = {"platform_plan": {**_FACET, "plan": plan}}
    run = {"runId": _RUN, "facets": facets}
    base = {
        "eventTime": _TIME,
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    sources = [_dataset(f"source_{source}", columns) for source in inputs]
    target = _dataset(f"target_{number}", columns, sources=inputs if number % 3 == 0 else [])
    target["outputFacets"] = {"outputStatistics": {**_FACET, "rowCount": "@rows@", "size": 4096}}
    ledger = {
        **_FACET,
        "inputRecordCount": "@rows@",
        "processedCount": "@rows@",
        "filteredCount": 0,
        "erroredCount": 0,
        "balanced": True,
    }
    ended = {**facets, "cdme_accountingLedger": ledger}
    failed = {**facets, "errorMessage": {**_FACET, "message": "lost executor 7", "programmingLanguage": "JAVA"}}
    events: dict[str, dict[str, Any]] = {
        "START": {"run": run, "job": job, "inputs": sources, "outputs": []},
        "RUNNING": {"run": run, "job": job, "inputs": sources, "outputs": []},
        "COMPLETE": {"run": {**run, "facets": ended}, "job": job, "inputs": sources, "outputs": [target]},
        "FAIL": {"run": {**run, "facets": failed}, "job": job, "inputs": sources, "outputs": []},
    }
    templates = {
        kind: json.dumps({**base, "eventType": kind, **body}, separators=(",", ":")) for kind, body in events.items()
    }
    return JobTemplate(namespace, name, templates, mean_s=random.choice([5.0, 30.0, 120.0]))


def _dataset(name: str, columns: list[str], sources: list[int] | None = None) -> dict[str, Any]:
    facets: dict[str, Any] = {
        "schema": {**_FACET, "fields": [{"name": column, "type": "bigint"} for column in columns]},
    }
    if sources:
        facets["columnLineage"] = {
            **_FACET,
            "fields": {
                column: {"inputFields": [{"namespace": "s3://lake", "name": f"source_{sources[0]}", "field": column}]}
                for column in columns
            },
        }
    return {"namespace": "s3://lake", "name": name, "facets": facets}
