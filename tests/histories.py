"""Generated histories of runs.

Small pools of times, names and counts make ties and conflicts the rule instead of the exception. Hypothesis gives
the seed and plain Python the rest: an example is a Spark job over hundreds of histories, which Hypothesis would take
minutes to draw value by value.
"""

import json
import uuid
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.events import document, sealed

FACET = {"_producer": "https://example.com", "_schemaURL": "https://example.com/facet.json"}
TYPES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER", None)
COUNTS = (None, 0, 1, 2, 3, 2**63 - 1)
GARBAGE = (None, b"", b"\xff", b"{", b"{}", b"\xc3\x01")


@dataclass(frozen=True)
class Arrival:
    """What was sent, and how it arrived: permuted, duplicated, mixed with garbage, split into batches."""

    sent: list[bytes]
    batches: list[list[bytes | None]]

    @property
    def arrived(self) -> list[bytes | None]:
        """All batches in one."""
        return [value for batch in self.batches for value in batch]


def arrival(seed: int, runs: int) -> Arrival:
    """The events of many runs on their way."""
    chance = Random(seed)
    sent = [value for _ in range(runs) for value in _history(chance)]
    arrived = [*sent, *chance.choices(sent, k=len(sent) // 3), *chance.choices(GARBAGE, k=4)]
    chance.shuffle(arrived)
    cuts = sorted(chance.sample(range(1, len(arrived)), 2))
    return Arrival(sent, [arrived[: cuts[0]], arrived[cuts[0] : cuts[1]], arrived[cuts[1] :]])


def _history(chance: Random) -> list[bytes]:
    run_id = str(uuid.UUID(int=chance.getrandbits(128)))
    return [_value(chance, run_id) for _ in range(chance.randint(1, 6))]


def _value(chance: Random, run_id: str) -> bytes:
    """One event of the run, sealed or as plain JSON."""
    second = chance.randint(0, 6)
    event = document(
        eventType=chance.choice(TYPES),
        eventTime=f"2026-01-31T10:00:0{second}.{second}00Z",
        run={"runId": run_id, "facets": _facets(chance)},
        job={"namespace": "tests", "name": chance.choice(["job", "job", "other-job"])},
        inputs=_datasets(chance),
        outputs=_datasets(chance),
    )
    body = json.dumps(_present(event)).encode()
    if chance.random() < 0.5:
        return body
    return sealed(body, trace_id=chance.choice([None, "a" * 32, "b" * 32])).encode()


def _facets(chance: Random) -> dict[str, Any]:
    ledger = {
        **FACET,
        **{f"{name}Count": chance.choice(COUNTS) for name in ("inputRecord", "processed", "filtered", "errored")},
        "balanced": chance.choice([None, True, False]),
    }
    number = chance.randint(1, 2)
    parent = {"run": {"runId": str(uuid.UUID(int=number))}, "job": {"namespace": "p", "name": f"parent-{number}"}}
    facets = {
        "cdme_accountingLedger": _present(ledger),
        "errorMessage": {**FACET, "message": chance.choice("xy"), "programmingLanguage": "python"},
        "parent": {**FACET, **parent},
    }
    return {name: facet for name, facet in facets.items() if chance.random() < 0.5}


def _datasets(chance: Random) -> list[dict[str, str]]:
    return [{"namespace": "db", "name": name} for name in chance.sample("abc", k=chance.randint(0, 2))]


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
