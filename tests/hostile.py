"""Events with hostile values at every place that the job reads. A seed decides everything."""

import json
import uuid
from copy import deepcopy
from random import Random
from typing import Any

from tests.events import document
from tests.histories import FACET, RUN_MEMBERS, assertions, job_facets

NUMBERS = (
    *(0, -1, 1.5, 1e15, 1e308, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**40, -(2**63) - 1, 1e-320),
    *("0", "-1", "NaN", "Infinity", "-inf", "1e400", "٣", "1_000", "0x10", " 7 ", "1" * 400),
)
TEXTS = (
    *(
        "",
        " ",
        "\u0000",
        "\u202egnp.exe",
        "\ud800",
        "\udc00x",
        "😀",
        "<script>",
        "'; DROP TABLE runs;--",
        "a/b#c",
        "%2F",
    ),
    *("\u0001\u001b[31m", "ﬀ", "İ", "x" * 5000, "null", "true", "{}", "[", '"', "\\", ":x:", "NaN"),
)
TIMES = (
    *("-0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1000-01-01T00:00:00+18:00"),
    *("1969-12-31T23:59:59.999999999Z", "2026-01-31T10:00:00", "2026-01-31t10:00:00z", "2026-01-31 10:00:00+0530"),
    *("2026-02-30T10:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T23:59:60Z", "2026-01-31T10:00:00+99:99", "now"),
    *("9999-12-31T23:59:59-18:00", "9999-12-31T23:59:59.999999999-14:00", "10000-01-01T00:00:00Z", "1769853600"),
    *("2026-01-31T10:00:00.1234567890123Z", "2026-W05-6", "2026-01-31T10:00:00[Europe/Berlin]"),
)
STRUCTURES: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": None},
    [1, "a", None],
    {"a": {"b": []}},
)
ALL = (*NUMBERS, *TEXTS, *TIMES, *STRUCTURES)
MAX_BYTES = 5_000_000
_MARK = "@deep@"
_BEHIND = (" x", ",5", "]", ',{"a":1}', "\n")


def hostile_events(seed: int, count: int) -> list[bytes]:
    """Events of few runs, jobs and datasets, each with some hostile values."""
    chance = Random(seed)
    drawn = (_bytes(chance, _mutated(chance, _event(chance))) for _ in range(count))
    # A value that is repeated several times can become larger than a record of Kafka may be.
    return [value if len(value) <= MAX_BYTES else value[:MAX_BYTES] for value in drawn]


def _event(chance: Random) -> dict[str, Any]:
    """A valid event with facets that the job reads: of a run, sometimes of a job or a dataset."""
    number = chance.randint(1, 400)
    count = chance.choice([1, 2, 2**63 - 1])
    ledger = {**FACET, "inputRecordCount": count, "processedCount": count, "filteredCount": 0, "balanced": True}
    certificate = {
        **FACET,
        **{"certificateId": "c", "algorithm": "lineproof-sha256-1", "timestamp": "2026-01-31T10:00:00Z"},
        **{"invariants": {"a": True}, "materialityThresholds": {"b": "1"}, "runId": str(uuid.UUID(int=number))},
    }
    parent = {"run": {"runId": str(uuid.UUID(int=1))}, "job": {"namespace": "p", "name": "j"}}
    facets = {
        "parent": {**FACET, **parent, "root": parent},
        "nominalTime": {**FACET, "nominalStartTime": "2026-01-31T00:00:00Z"},
        "errorMessage": {**FACET, "message": "m"},
        "timing": {"durationMs": 5},
        "test": {**FACET, "tests": [{"name": "t", "status": "pass"}]},
        "cdme_accountingLedger": ledger,
        "cdme_fidelityCertificate": certificate,
    }
    kept = {name: facet for name, facet in facets.items() if chance.random() < 0.3}
    event = document(
        eventType=chance.choice(["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"]),
        eventTime=f"2026-01-31T10:{chance.randint(0, 59):02}:00Z",
        run={"runId": str(uuid.UUID(int=number)), "facets": kept},
        job={"namespace": "h", "name": f"job-{number % 20}", "facets": job_facets(chance)},
        inputs=[_dataset(chance, number, "input")],
        outputs=[_dataset(chance, number, "output")],
    )
    left_out: dict[str, tuple[str, ...]] = {"job": ("run", "eventType"), "dataset": RUN_MEMBERS}
    kind = chance.choices(["run", "job", "dataset"], [18, 1, 1])[0]
    if kind == "dataset":
        event["dataset"] = _dataset(chance, number, "input")
    return {name: member for name, member in event.items() if name not in left_out.get(kind, ())}


def _dataset(chance: Random, number: int, role: str) -> dict[str, Any]:
    source = {"namespace": "h", "name": f"input-{number % 30}", "field": "id", "transformations": [{"type": "DIRECT"}]}
    facets = {
        "schema": {**FACET, "fields": [{"name": "id", "type": "int"}]},
        "columnLineage": {**FACET, "fields": {"id": {"inputFields": [source]}}},
        "symlinks": {**FACET, "identifiers": [{"namespace": "h", "name": f"alias-{number % 5}", "type": "TABLE"}]},
        "ownership": {**FACET, "owners": [{"name": "o", "type": "t"}]},
        "tags": {**FACET, "tags": [{"key": "residency", "value": "eu"}]},
        "lineproof_qualityMetrics": {**FACET, "score": 0.5},
        "dataQualityAssertions": assertions(chance),
        "stats": {"rowCount": 3, "bytes": 9},
    }
    kept = {name: facet for name, facet in facets.items() if chance.random() < 0.4}
    statistics = {f"{role}Facets": {f"{role}Statistics": {**FACET, "rowCount": 3, "size": 9}}}
    return {"namespace": "h", "name": f"{role}-{number % 30}", "facets": kept, **statistics}


def _mutated(chance: Random, event: dict[str, Any]) -> dict[str, Any]:
    """The event with a hostile value, name or repetition at one to three places."""
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        holder, key = chance.choice([*_places(event)])
        how = chance.random()
        if how < 0.75:
            holder[key] = deepcopy(chance.choice(ALL))  # or the next change would be one of the list
        elif how < 0.8 and isinstance(holder, dict):
            holder[str(chance.choice(TEXTS))] = holder.pop(key)
        elif how < 0.85:
            holder[key] = _MARK
        elif how < 0.9:
            holder[key] = [holder[key]] * chance.choice([2, 50])
        elif how < 0.95:
            holder[key] = {f"k{n}": holder[key] for n in range(chance.choice([2, 300]))}
        elif isinstance(holder, dict):
            del holder[key]
    return event


def _places(value: Any) -> Any:
    """Every member and element, at every depth."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in list(members):
        yield value, key
        yield from _places(member)


def _bytes(chance: Random, event: dict[str, Any]) -> bytes:
    """The event as JSON; a key of some comes twice, some nest deeply, some are cut, and some have something behind."""
    depth = chance.choice([10, 400, 990, 1100])
    text = json.dumps(event, separators=(",", ":"), ensure_ascii=chance.random() < 0.5)
    text = text.replace(f'"{_MARK}"', "[" * depth + "]" * depth)
    if chance.random() < 0.1 and '"facets":{"' in text:
        text = text.replace('"facets":{"', '"facets":{"parent":{"message":"first"},"schema":{},"', 1)
    if chance.random() < 0.02:
        text = text[: chance.randint(1, len(text))]
    if chance.random() < 0.01:
        text += chance.choice(_BEHIND)
    return text.encode(errors=chance.choice(["surrogatepass", "replace"]))
