"""Generated histories of runs, jobs and datasets.

Small pools of times, names and counts make ties and conflicts common. A seed decides everything. Hypothesis does not
draw the values, because it would take minutes for the hundreds of histories of one Spark job.
"""

import json
import uuid
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.certificates import chain_of, facet_of
from tests.events import ABSENT, document, sealed

FACET = {"_producer": "https://example.com", "_schemaURL": "https://example.com/facet.json"}
TYPES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER", None)
COUNTS = (None, 0, 1, 2, 3, 2**63 - 1)
RUN_MEMBERS = ("run", "job", "eventType", "inputs", "outputs")
_GENUINE = chain_of(1)[0]
GARBAGE = (None, b"", b"\xff", b"{", b"{}", b"\xc3\x01")


@dataclass(frozen=True)
class Arrival:
    """The events that were sent, and how they arrived: permuted, duplicated, mixed with garbage, split into batches."""

    sent: list[bytes]
    batches: list[list[bytes | None]]

    @property
    def arrived(self) -> list[bytes | None]:
        """All batches in one."""
        return [value for batch in self.batches for value in batch]


def arrival(seed: int, runs: int) -> Arrival:
    """The events of many runs as they arrive. The first and the last event make and fix violations with every seed."""
    chance = Random(seed)
    drawn = [value for number in range(runs) for value in _history(chance, number)]
    arrived = [*drawn, *chance.choices(drawn, k=len(drawn) // 3), *chance.choices(GARBAGE, k=4)]
    chance.shuffle(arrived)
    first, last = _ledger_and_test(0, passed=False), _ledger_and_test(1, passed=True)
    arrived = [first, *arrived, last]
    cuts = sorted(chance.sample(range(1, len(arrived)), 2))
    batches = [arrived[: cuts[0]], arrived[cuts[0] : cuts[1]], arrived[cuts[1] :]]
    return Arrival([first, *drawn, last], batches)


def _ledger_and_test(minute: int, *, passed: bool) -> bytes:
    """An event of a run that completes, with a ledger that balances if it passed, and a test that passed or failed."""
    ledger = {**FACET, "inputRecordCount": 2, "processedCount": 2 if passed else 1}
    results = {**FACET, "assertions": [{"assertion": "not_null", "success": passed}]}
    tested = {"namespace": "fixed", "name": "a", "inputFacets": {"dataQualityAssertions": results}}
    event = document(
        eventType="COMPLETE",
        eventTime=f"2026-01-31T11:0{minute}:00Z",
        run={"runId": str(uuid.UUID(int=1)), "facets": {"cdme_accountingLedger": ledger}},
        job={"namespace": "fixed", "name": "job"},
        inputs=[tested],
        outputs=ABSENT,
    )
    return json.dumps(event).encode()


def _history(chance: Random, number: int) -> list[bytes]:
    """The events of one run. Most runs have their own jobs and datasets; some share those of the run before."""
    run_id = str(uuid.UUID(int=chance.getrandbits(128)))
    world = f"w{number - (number > 0 and chance.random() < 0.1)}"
    return [_value(chance, run_id, world) for _ in range(chance.randint(1, 6))]


def _value(chance: Random, run_id: str, world: str) -> bytes:
    """A run event, or a job or dataset event, in an envelope or as plain JSON."""
    second = chance.randint(0, 6)
    job = {"namespace": world, "name": chance.choice(["job", "job", "other-job"]), "facets": job_facets(chance)}
    event = document(
        eventType=chance.choice(TYPES),
        eventTime=f"2026-01-31T10:00:0{second}.{second}00Z",
        producer=f"https://example.com/{chance.choice('aab')}",
        run={"runId": run_id, "facets": _facets(chance, run_id)},
        job=_present(job),
        inputs=_datasets(chance, world, "input"),
        outputs=_datasets(chance, world, "output"),
    )
    kind = chance.random()
    if kind < 0.1:
        event = {**event, "run": ABSENT, "eventType": ABSENT}
    elif kind < 0.2:
        dataset = _dataset(chance, world, chance.choice("abc"))
        event = {**document(eventTime=event["eventTime"]), **dict.fromkeys(RUN_MEMBERS, ABSENT), "dataset": dataset}
    body = json.dumps(_present(event)).encode()
    if chance.random() < 0.5:
        return body
    return sealed(body, trace_id=chance.choice([None, "a" * 32, "b" * 32])).encode()


def _facets(chance: Random, run_id: str) -> dict[str, Any]:
    ledger = {
        **FACET,
        **{f"{name}Count": chance.choice(COUNTS) for name in ("inputRecord", "processed", "filtered", "errored")},
        "balanced": chance.choice([None, True, False]),
    }
    number = chance.randint(1, 2)
    parent = {"run": {"runId": str(uuid.UUID(int=number))}, "job": {"namespace": "p", "name": f"parent-{number}"}}
    root = {"run": {"runId": str(uuid.UUID(int=9))}, "job": {"namespace": "p", "name": "root"}}
    facets = {
        "cdme_accountingLedger": _present(ledger),
        "errorMessage": {**FACET, "message": chance.choice("xy"), "programmingLanguage": "python"},
        "parent": {**FACET, **parent, **({"root": root} if number == 1 else {})},
        "nominalTime": {**FACET, "nominalStartTime": f"2026-01-0{number}T00:00:00+00:00"},
        "test": _tests(chance),
        "timing": {**FACET, "durationMs": chance.randint(1, 3)},
    }
    if chance.random() < 0.1:
        return {"cdme_fidelityCertificate": _certificate(chance, run_id)}
    return {name: facet for name, facet in facets.items() if chance.random() < 0.5}


def _certificate(chance: Random, run_id: str) -> dict[str, Any]:
    """A genuine or a bad certificate: mostly of this run, sometimes of another."""
    sealed = replace(_GENUINE, run_id=chance.choice([run_id, run_id, _GENUINE.run_id])).sealed()
    bad = (replace(sealed, contract_version="changed"), replace(sealed, algorithm="md5"))
    return facet_of(chance.choice([sealed, *bad]))


def job_facets(chance: Random) -> dict[str, Any] | None:
    """Some facets of a job, an empty object, or no `facets` at all."""
    facets = {
        "jobType": {**FACET, "processingType": chance.choice(["BATCH", "STREAMING"]), "integration": "SPARK"},
        "documentation": _deletable(chance, {"description": chance.choice("xyü")}),
        "ownership": {**FACET, "owners": [{"name": f"team:{chance.choice('ab')}", "type": "OWNER"}]},
        "sql": {**FACET, "query": f"SELECT {chance.randint(1, 2)}"},
        "lineproof_sla": {**FACET, "freshnessMinutes": 5.0, "maxDurationMinutes": chance.choice([1, 2.5])},
        "custom-1.x": {**FACET, "a": [chance.randint(1, 2), {"b": None}], "text": 'quote " and \\ and ✓'},
    }
    return _some(chance, facets)


def assertions(chance: Random) -> dict[str, Any]:
    """A test of a dataset with the standard fields; sometimes a second one with all fields that lineproof writes."""
    plain = {"assertion": "not_null", "success": chance.random() < 0.5, "column": "id"}
    found = {
        **{"suite": "orders", "unexpectedCount": 3, "unexpectedShare": 0.25, "samples": ["a", "ü"], "durationMs": 7},
        "since": "2026-01-31T10:00:00+01:00",
    }
    full = {
        **{"assertion": "expect_column_values_to_be_unique", "success": False, "severity": "critical"},
        **{"expected": "unique", "actual": "3", "params": {**found, "error": chance.choice([None, "no such column"])}},
    }
    return {**FACET, "assertions": [plain, full] if chance.random() < 0.3 else [plain]}


def _tests(chance: Random) -> dict[str, Any]:
    """Tests of a run, whose status is a word and not a boolean."""
    status, kind = chance.choice(["pass", "FAIL", "skip"]), chance.choice(["sla", None])
    return {**FACET, "tests": [_present({"name": "freshness", "status": status, "type": kind})]}


def _datasets(chance: Random, world: str, role: str) -> list[dict[str, Any]]:
    datasets = [_dataset(chance, world, name) for name in chance.choices("abc", k=chance.randint(0, 2))]
    for dataset in datasets:
        facets: dict[str, Any] = {
            f"{role}Statistics": _present(
                {**FACET, "rowCount": chance.choice(COUNTS), "size": chance.choice(COUNTS), "fileCount": 1}
            )
        }
        if role == "input":
            facets["dataQualityAssertions"] = assertions(chance)
        elif chance.random() < 0.2:
            dataset["facets"] = {**dataset.get("facets", {}), "dataQualityAssertions": assertions(chance)}
        if some := _some(chance, facets):
            dataset[f"{role}Facets"] = some
            if "dataQualityAssertions" in some and chance.random() < 0.3:  # in both places, as dbt-ol states them
                same = {"dataQualityAssertions": some["dataQualityAssertions"]}
                dataset["facets"] = {**dataset.get("facets", {}), **same}
    return datasets


def _dataset(chance: Random, world: str, name: str) -> dict[str, Any]:
    def column(field: str, **more: Any) -> dict[str, Any]:
        return {"namespace": world, "name": chance.choice("abc"), "field": field, **more}

    how = {"type": "DIRECT", "subtype": chance.choice(["IDENTITY", "AGGREGATION"]), "masking": False}
    lineages: list[dict[str, Any]] = [
        {"fields": {"total": {"inputFields": [column("id", transformations=[how, None]), column("n")]}}},
        {"fields": {"total": {"inputFields": [column("id")], "transformationType": "MASKED"}}},
        {"fields": {}, "dataset": [column("day", transformations=[{"type": "INDIRECT", "subtype": "FILTER"}])]},
    ]
    fields = [{"name": "id", "type": chance.choice(["int", "bigint"])}, {"name": "ü", "type": "struct", "fields": []}]
    tags = [
        {"key": "residency", "value": chance.choice(["eu", "us"])},
        {"key": "residency", "value": "x", "field": "id"},
    ]
    facets = {
        "schema": _deletable(chance, {"fields": fields[: chance.randint(0, 2)]}),
        "columnLineage": {**FACET, **chance.choice(lineages)},
        "tags": {**FACET, "tags": tags[: chance.randint(0, 2)]},
        "symlinks": {**FACET, "identifiers": _identifiers(chance, world)},
        "dataSource": {**FACET, "name": "db", "uri": f"db://{chance.choice('xy')}"},
        "lineproof_qualityMetrics": {**FACET, "score": chance.choice([0.25, 1])},
        "custom_facet": {**FACET, "number": chance.randint(1, 3)},
    }
    chosen = {"namespace": world, "name": name, "facets": _some(chance, facets)}
    return _present(chosen)


def _identifiers(chance: Random, world: str) -> list[dict[str, Any]]:
    """Other names of a dataset, with chains, cycles and the dataset itself among them."""
    return [
        {"namespace": world, "name": chance.choice("abcd"), "type": chance.choice(["TABLE", "LOCATION"])}
        for _ in range(chance.randint(0, 3))
    ]


def _some(chance: Random, facets: dict[str, Any]) -> dict[str, Any] | None:
    share = chance.choice([0, 0.3, 0.8])
    some = {name: facet for name, facet in facets.items() if chance.random() < share}
    return some if some or chance.random() < 0.5 else None


def _deletable(chance: Random, facet: dict[str, Any]) -> dict[str, Any]:
    return {**FACET, "_deleted": True} if chance.random() < 0.2 else {**FACET, **facet}


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None and value is not ABSENT}
