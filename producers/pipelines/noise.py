"""Unusual and broken records, as a lineage topic in production has them. The demo adds them to its events."""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from openlineage.client import event_v2 as ol

from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.memory import MemoryTransport
from lineproof.schemas.avro import SINGLE_OBJECT_MARKER
from lineproof.schemas.record import Record

POSTGRES = "postgres://warehouse:5432"


@dataclass(frozen=True)
class Noise:
    """Records: unusual events, some of them with defects, and values that are no events."""

    events: list[Record]
    broken: list[Record]


@dataclass(frozen=True)
class Sent:
    """Counts of the records sent to a topic, to compare with the tables."""

    events: int
    resent: int
    broken: int

    @property
    def records(self) -> int:
        """All records sent."""
        return self.events + self.resent + self.broken


def noise() -> Noise:
    """New runs at each call, with the same faults."""
    now = datetime.now(timezone.utc)
    events = [*_unusual_runs(now), *_foreign_events(now), *_defective_events(now)]
    return Noise(events, [Record(b"broken", value) for value in _not_events(now)])


def _unusual_runs(now: datetime) -> list[Record]:
    captured = MemoryTransport()
    emitter = Emitter(captured, "legacy")
    hour_ago = now - timedelta(hours=1)

    emitter.run("nightly-copy").start(at=hour_ago)  # never ends

    failing = emitter.run("nightly-load").start(at=hour_ago)
    failing.fail("ConnectionError: no route to warehouse", at=hour_ago + timedelta(seconds=12))

    stopped = emitter.run("nightly-report").start(at=hour_ago)
    stopped.abort(at=hour_ago + timedelta(seconds=30))

    backwards = emitter.run("nightly-index").start(at=hour_ago - timedelta(minutes=2))
    backwards.complete(at=hour_ago)
    start_last = [*captured.records[:-2], *reversed(captured.records[-2:])]

    emitter.declare_job("nightly-index")
    emitter.declare_dataset(ol.StaticDataset(POSTGRES, "impact.public.archive"))
    return [*start_last, *captured.records[-2:]]


def _foreign_events(now: datetime) -> list[Record]:
    """Events as the standard OpenLineage Kafka transport writes them: plain JSON, with its own key."""
    run_ids = [str(uuid.uuid4()) for _ in range(2)]
    ledger = {
        "_producer": "https://example.com/airflow",
        "_schemaURL": "urn:lineproof:facet:1-0-0:CdmeAccountingLedgerRunFacet",
        "inputRecordCount": 1000,
        "processedCount": 950,
        "filteredCount": 20,
        "erroredCount": 5,
        "balanced": True,
    }
    begin = now - timedelta(minutes=10)
    return [
        Record(b"run:airflow/nightly", _foreign_json("START", run_ids[0], begin)),
        Record(b"run:airflow/nightly", _foreign_json("COMPLETE", run_ids[0], begin + timedelta(seconds=90))),
        Record(b"run:airflow/leaking", _foreign_json("START", run_ids[1], begin, job="leaking")),
        # It claims that its ledger balances, but it does not.
        Record(
            b"run:airflow/leaking",
            _foreign_json("COMPLETE", run_ids[1], now, job="leaking", cdme_accountingLedger=ledger),
        ),
    ]


def _foreign_json(event_type: str, run_id: str, at: datetime, job: str = "nightly", **facets: object) -> bytes:
    team = {
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
            "run": {"runId": run_id, "facets": {"example_team": team, **facets}},
            "job": {"namespace": "airflow", "name": job},
            "inputs": [],
            "outputs": [{"namespace": POSTGRES, "name": "impact.public.buddy_feedback"}],
        }
    ).encode()


def _defective_events(now: datetime) -> list[Record]:
    """Events with something wrong in them that are used all the same."""
    run_id = str(uuid.uuid4())
    valid = _foreign_json("OTHER", run_id, now)
    values = [
        valid.replace(b"+00:00", b""),
        valid.replace(run_id.encode(), b"run-42"),
        valid.replace(b'"example_team": ', b'"example_team": {}, "example_team": '),
    ]
    return [Record(b"run:airflow/nightly", value) for value in values]


def _not_events(now: datetime) -> list[bytes | None]:
    run_id = str(uuid.uuid4())
    valid = _foreign_json("OTHER", run_id, now)
    return [
        None,
        b"hello, is this the right topic?",
        SINGLE_OBJECT_MARKER + b"12345678" + valid,
        valid[:-20],
        b'{"temperature": 21.5}',
        valid.replace(b'"namespace": "airflow", ', b""),
    ]
