"""The events of the demo: a few hundred, good and bad, as a lineage topic sees them in real life."""

import json
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import output_statistics_output_dataset, schema_dataset

from lineproof.producers.emitter import Emitter
from lineproof.producers.facets import AccountingLedgerRunFacet
from lineproof.producers.publisher import Publisher
from lineproof.schemas.envelope import SINGLE_OBJECT_MARKER

NAMESPACE = "impact-platform"
POSTGRES = "postgres://warehouse:5432"
JOBS = {
    "volunteer-sync": ("benevity", "volunteer_hours", "impact.public.volunteer_hours"),
    "feedback-ingestion": (POSTGRES, "impact.public.buddy_feedback", "impact.public.evidence_snippets"),
    "sroi-calculation": (POSTGRES, "impact.public.evidence_snippets", "impact.public.sroi_calculations"),
    "aggregation": (POSTGRES, "impact.public.sroi_calculations", "impact.public.metrics_company_period"),
    "report-generation": (POSTGRES, "impact.public.metrics_company_period", "impact.public.report_lineage"),
}
RUNS_PER_JOB = 20


@dataclass
class Sent:
    """What the demo put on the topic, to compare with what comes out."""

    events: int = 0
    resent: int = 0
    broken: int = 0
    payloads: list[bytes] = field(default_factory=list)

    @property
    def records(self) -> int:
        """All records on the topic."""
        return self.events + self.resent + self.broken


def publish(publisher: Publisher, advance: Callable[[], None]) -> Sent:
    """Publish everything a lineage topic sees in real life; `advance` is called once per record."""
    sent = Sent()
    counting = _Counting(publisher, advance)
    emitter = Emitter(counting, NAMESPACE)
    chance = random.Random(2026)
    now = datetime.now(timezone.utc)
    _ordinary_days(emitter, chance, now, sent)
    _unusual_runs(emitter, now, sent)
    _foreign_events(counting, now)
    sent.events = counting.records
    for payload in chance.sample(sent.payloads, 40):
        emitter.publish_json(payload)
    sent.resent = counting.records - sent.events
    for value in _not_events(now):
        counting.publish(b"broken", value)
    sent.broken = counting.records - sent.events - sent.resent
    publisher.flush(60)
    return sent


class _Counting:
    def __init__(self, publisher: Publisher, advance: Callable[[], None]) -> None:
        self._publisher = publisher
        self._advance = advance
        self.records = 0

    def publish(self, key: bytes | None, value: bytes | None) -> None:
        self._publisher.publish(key, value)
        self.records += 1
        self._advance()

    def flush(self, timeout_s: float) -> None:
        self._publisher.flush(timeout_s)


def _ordinary_days(emitter: Emitter, chance: random.Random, now: datetime, sent: Sent) -> None:
    for number in range(RUNS_PER_JOB):
        for order, (job, (namespace, source, target)) in enumerate(JOBS.items()):
            begin = now - timedelta(hours=6 * (RUNS_PER_JOB - number)) + timedelta(minutes=10 * order)
            rows = chance.randrange(500, 5000)
            filtered = chance.randrange(0, 50)
            run = emitter.prepare(job)
            end = begin + timedelta(seconds=chance.uniform(5, 300))
            sent.payloads += [
                run.emit(ol.RunState.START, inputs=[ol.InputDataset(namespace, source)], at=begin),
                run.emit(ol.RunState.RUNNING, at=begin + (end - begin) / 2),
            ]
            run.complete(
                outputs=[_table(target, rows - filtered)],
                ledger=AccountingLedgerRunFacet(rows, rows - filtered, filtered),
                at=end,
            )


def _unusual_runs(emitter: Emitter, now: datetime, sent: Sent) -> None:
    hour_ago = now - timedelta(hours=1)

    failing = emitter.start("sroi-calculation", at=hour_ago)
    failing.fail("ValueError: weight of 'mentoring' is missing", at=hour_ago + timedelta(seconds=12))

    emitter.start("volunteer-sync", at=hour_ago)  # never ends

    stopped = emitter.start("report-generation", at=hour_ago)
    stopped.abort(at=hour_ago + timedelta(seconds=30))

    backwards = emitter.prepare("aggregation")
    backwards.complete(outputs=[_table("impact.public.metrics_company_period", 7)], at=hour_ago)
    sent.payloads.append(backwards.emit(ol.RunState.START, at=hour_ago - timedelta(minutes=2)))

    leaking = emitter.start("feedback-ingestion", at=hour_ago)
    leaking.complete(ledger=AccountingLedgerRunFacet(1000, 950, 20, 5), at=hour_ago + timedelta(seconds=40))

    emitter.publish(ol.JobEvent(eventTime=now.isoformat(), job=ol.Job(NAMESPACE, "aggregation")))
    emitter.publish(
        ol.DatasetEvent(
            eventTime=now.isoformat(), dataset=ol.StaticDataset(POSTGRES, "impact.public.sroi_calculations")
        )
    )


def _foreign_events(publisher: Publisher, now: datetime) -> None:
    """As a stock OpenLineage Kafka transport writes them: plain JSON, a key of its own."""
    run_id = str(uuid.uuid4())
    for event_type, seconds in (("START", 0), ("COMPLETE", 90)):
        publisher.publish(
            b"run:airflow/nightly", _foreign_json(event_type, run_id, now + timedelta(seconds=seconds - 600))
        )


def _foreign_json(event_type: str, run_id: str, at: datetime) -> bytes:
    facet = {
        "_producer": "https://example.com/airflow",
        "_schemaURL": "https://example.com/facets/1-0-0/Team.json",
        "team": "data <platform>",
    }
    return json.dumps(
        {
            "eventType": event_type,
            "eventTime": at.isoformat(),
            "producer": "https://example.com/airflow",
            "schemaURL": "https://openlineage.io/spec/1-0-5/OpenLineage.json#/definitions/RunEvent",
            "run": {"runId": run_id, "facets": {"example_team": facet}},
            "job": {"namespace": "airflow", "name": "nightly"},
            "inputs": [],
            "outputs": [{"namespace": POSTGRES, "name": "impact.public.buddy_feedback"}],
        }
    ).encode()


def _not_events(now: datetime) -> list[bytes | None]:
    run_id = str(uuid.uuid4())
    valid = _foreign_json("OTHER", run_id, now)
    return [
        None,
        b"hello, is this the right topic?",
        SINGLE_OBJECT_MARKER + b"12345678" + valid,
        valid[:-20],
        b'{"temperature": 21.5}',
        valid.replace(b"+00:00", b""),
        valid.replace(run_id.encode(), b"run-42"),
        valid.replace(b'"namespace": "airflow", ', b""),
        valid.replace(b'"inputs": []', b'"inputs": [], "inputs": []'),
    ]


def _table(name: str, rows: int) -> ol.OutputDataset:
    fields = [
        schema_dataset.SchemaDatasetFacetFields(name="id", type="bigint"),
        schema_dataset.SchemaDatasetFacetFields(name="value", type="numeric"),
    ]
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=rows, size=rows * 64)
    return ol.OutputDataset(
        POSTGRES,
        name,
        facets={"schema": schema_dataset.SchemaDatasetFacet(fields=fields)},
        outputFacets={"outputStatistics": statistics},
    )
