"""Events and envelopes for tests."""

import json
import uuid
from typing import Any

from lineproof.schemas.envelope import Envelope
from lineproof.schemas.openlineage import parse

ABSENT = object()
RUN_ID = "01890000-0000-7000-8000-000000000001"


def document(**changes: Any) -> dict[str, Any]:
    """A valid run event, with top-level members changed, added or (`ABSENT`) removed."""
    base: dict[str, Any] = {
        "eventType": "START",
        "eventTime": "2026-01-31T10:00:00.000Z",
        "producer": "https://example.com/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": RUN_ID},
        "job": {"namespace": "tests", "name": "job"},
        "inputs": [{"namespace": "db", "name": "in"}],
        "outputs": [output("out", 7)],
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not ABSENT}


def output(name: str, rows: Any) -> dict[str, Any]:
    """An output dataset with a row count."""
    statistics = {"_producer": "https://example.com", "_schemaURL": "https://example.com/s", "rowCount": rows}
    return {"namespace": "db", "name": name, "outputFacets": {"outputStatistics": statistics}}


def payload(**changes: Any) -> bytes:
    """The JSON of `document(**changes)`."""
    return json.dumps(document(**changes)).encode()


def sealed(body: bytes, sequence: int = 0, trace_id: str | None = None) -> Envelope:
    """A payload in its envelope."""
    return Envelope.seal(parse(body), str(uuid.UUID(int=1)), sequence, trace_id)
