"""Tables with something of everything: the pipeline of `tests.streaming.story`, names that are hostile, and faults."""

import json
import uuid
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

from lineproof.schemas.certificates import GENESIS, Certificate
from tests.certificates import draft
from tests.events import document
from tests.streaming.story import story
from tests.tables import tables_of

AT = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
HOSTILE = (
    "<script>alert(1)</script>",
    'it\'s "quoted"; DROP TABLE runs;--',
    "x" * 2000,
    "\u202egnp.exe\u2066",
    "😀 ☃",
    ":x:",
    "\u0001\u001b[31m",
    "a/b/../c%2F?d&e=f#g",
    "s3://bucket:9000/key",
    "\\",
    "what?",
    "100%_",
    "archive",
)
UNBALANCED, RESOLVED, ABORTED, ALTERED, UNKNOWN_ALGORITHM, UNPROVEN, CHILD, WITHOUT_START, GAP = (
    f"11111111-0000-0000-0000-00000000000{n}" for n in range(9)
)

Row = dict[str, Any]


def make_world(directory: Path) -> Path:
    """Write the tables."""
    return tables_of(directory, [*story(), *hostile_events()], faults())


def hostile_events() -> list[bytes]:
    """A run of each hostile name, which reads and writes datasets with it."""
    made = []
    for number, name in enumerate(HOSTILE):
        stated = {"job": {"namespace": name, "name": name}, "run": {"runId": str(uuid.UUID(int=1000 + number))}}
        for kind, minute in (("START", 0), ("COMPLETE", 1)):
            schema = {"schema": {"_producer": "p", "_schemaURL": "s", "fields": [{"name": name, "type": name}]}}
            made.append(
                document(
                    eventType=kind,
                    eventTime=f"2026-01-31T11:{number:02}:{minute:02}Z",
                    inputs=[{"namespace": name, "name": f"{name} in"}],
                    outputs=[{"namespace": name, "name": name, "facets": schema}],
                    **stated,
                )
            )
    return [json.dumps(one).encode() for one in made]


def run_row(run_id: str, minute: int, state: str = "COMPLETED", **more: Any) -> Row:
    """A row of `runs`."""
    began = AT + timedelta(minutes=minute)
    is_open = state in ("NEW", "RUNNING")
    ended_at = None if is_open else began + timedelta(seconds=30)
    job = {"namespace": "faults", "name": "job"}
    return {
        "run_id": run_id,
        "job_namespace": job["namespace"],
        "job_name": job["name"],
        "jobs": [job],
        "state": state,
        "successful": state == "COMPLETED",
        "started_at": None if state == "NEW" else began,
        "ended_at": ended_at,
        "duration_ms": None if is_open else 30_000,
        "completed_at": ended_at if state == "COMPLETED" else None,
        "first_event_at": began,
        "last_event_at": ended_at or began,
        "has_conflicting_ends": False,
        "had_faulty_ledger": False,
        "event_count": 1,
        **more,
    }


def ledger(difference: int | None, minute: int) -> Row:
    """The columns of a ledger."""
    verdict = "incomplete" if difference is None else "unbalanced" if difference else "balanced"
    counts = {"input_count": 2**60, "processed_count": 2**60 - (difference or 0), "filtered_count": 0}
    stated = {"event_time": AT + timedelta(minutes=minute), "event_id": "event", "declared_balanced": True}
    return {
        "ledger_verdict": verdict,
        "ledger_difference": difference,
        "had_faulty_ledger": True,
        "ledger": {**stated, **counts, "errored_count": None if difference is None else 0},
    }


def faults() -> dict[str, list[Row]]:
    """Rows of everything that can be wrong."""
    return {
        "runs": [
            run_row(UNBALANCED, 0, successful=False, **ledger(25, 0)),
            run_row(RESOLVED, 1, **ledger(0, 5)),
            run_row(ABORTED, 2, "ABORTED"),
            run_row(ALTERED, 3, certificate_verdict="altered"),
            run_row(UNKNOWN_ALGORITHM, 4, certificate_verdict="unknown algorithm"),
            run_row(UNPROVEN, 5),
            run_row(CHILD, 6, parent={"run_id": UNPROVEN, "job_namespace": "faults", "job_name": "job"}),
            run_row(WITHOUT_START, 7, "NEW"),
            run_row(GAP, 8, certificate_verdict="intact"),
        ],
        "certificates": certificate_rows(),
        "dead_letters": [letter(0, "invalid_json", b"{\x00\xff<script>"), letter(1, "of_a_newer_release", None)],
        "records": [
            {**record(100, sequence=0), "run_id": UNPROVEN},
            {**record(101, sequence=3), "run_id": UNPROVEN},
            {**record(102), "redrives": "lineage.events/1/0", "reason": None},
        ],
        "quarantine": [{"query": "curate", "topic": "t", "partition": 0, "offset": 7, "error": "?", "found_at": AT}],
        "accepted_losses": [
            {"topic": "t", "partition": 0, "first_offset": 3, "last_offset": 5, "batch": 1, "accepted_at": AT}
        ],
        "quality_results": [
            result_row("failing", 0, success=False),
            result_row("mended", 0, success=False),
            result_row("mended", 1, success=True),
            result_row("skipped", 0, success=None),
            result_row("not run", 0, success=False, error="no such column"),
        ],
        "lineage_events": [
            {
                "event_id": "defective",
                "event_time": AT + timedelta(minutes=5),
                "kind": "RUN",
                "run_id": UNPROVEN,
                "producer": "old",
                "defects": ["bad_count", "of_a_newer_release"],
                "event": "{}",
            }
        ],
    }


def record(offset: int, **more: Any) -> Row:
    """A row of `records`."""
    emitter = {"emitter_id": "emitter-1"} if "sequence" in more else {}
    times = {"timestamp": AT + timedelta(seconds=offset), "event_time": AT}
    return {
        "topic": "lineage.events",
        "partition": 1,
        "offset": offset,
        "event_id": str(offset),
        **emitter,
        **times,
        **more,
    }


def letter(offset: int, reason: str, value: bytes | None) -> Row:
    """A row of `dead_letters`."""
    where = {"topic": "lineage.events", "partition": 1, "offset": offset, "timestamp": AT}
    return {**where, "reason": reason, "value": value, "key": b"k"}


def result_row(name: str, minute: int, *, success: bool | None, error: str | None = None) -> Row:
    """A row of `quality_results`."""
    at = AT + timedelta(minutes=minute)
    return {
        "result_id": f"{name} {minute}",
        "namespace": "faults",
        "name": name,
        "expectation": "unique",
        "column": "id",
        "success": success,
        "error": error,
        "event_time": at,
        "event_id": f"{name} {minute}",
        "run_id": UNPROVEN,
    }


def certificate_rows() -> list[Row]:
    """A chain of five, of which the third is altered; a fork, a gap, and one of an unknown algorithm."""
    chain: list[Certificate] = []
    for number in range(20, 25):
        chain.append(replace(draft(number), previous_hash=chain[-1].chain_hash if chain else GENESIS).sealed())
    altered = replace(chain[2], target_state_hash="another")
    fork = replace(draft(30), previous_hash=chain[0].chain_hash).sealed()
    gap = replace(draft(31), previous_hash="f" * 64).sealed()
    unknown = replace(draft(32), previous_hash=GENESIS, algorithm="sha3-1")
    stated = [chain[0], chain[1], altered, chain[3], chain[4], fork, gap, unknown]
    runs = {id(altered): ALTERED, id(unknown): UNKNOWN_ALGORITHM, id(gap): GAP}
    return [certificate_row(one, number, runs.get(id(one), one.run_id)) for number, one in enumerate(stated)]


def certificate_row(certificate: Certificate, number: int, run_id: str) -> Row:
    """A row of `certificates`."""
    stated = asdict(certificate)
    columns = ("certificate_id", "chain_hash", "previous_hash", "algorithm", "contract_version", "timestamp")
    return {
        **{name: stated[name] for name in columns},
        "certificate_key": f"fault {number}",
        "run_id": run_id,
        "issued_at": AT + timedelta(seconds=number),
        "computed_hash": certificate.sealed().chain_hash,
    }


def random_runs(seed: int, count: int) -> list[Row]:
    """Runs of which many began at the same time, or at no time that is known."""
    chance = Random(seed)
    return [
        run_row(
            str(uuid.UUID(int=chance.getrandbits(128))),
            chance.randrange(5),
            chance.choice(("COMPLETED", "FAILED", "ABORTED", "RUNNING", "NEW")),
            **(ledger(chance.choice((0, 0, 3, None)), 0) if chance.random() < 0.5 else {}),
            certificate_verdict=chance.choice((None, None, "intact", "altered", "unknown algorithm")),
        )
        for _ in range(count)
    ]
