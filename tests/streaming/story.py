"""A small pipeline with known lineage, loads and results.

The job `load` writes orders, `clean` makes clean from it, and `report` makes report from that and writes orders again,
so that there is a cycle. The dataset clean is a path in a lake, with a symlink to the table name that `report` reads.
"""

import json
from typing import Any

from tests.certificates import chain_of, facet_of
from tests.events import ABSENT, document
from tests.histories import FACET

WORLD = "world"
LOAD, CLEAN, REPORT, LATE, STREAM, FAILED = (f"00000000-0000-0000-0000-0000000000{n:02}" for n in range(10, 16))
AGGREGATION = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum", "masking": False}


def story() -> list[bytes]:
    """The events of the pipeline."""
    clean_place = dataset("s3://lake", "clean", facets={"symlinks": symlink("clean"), "schema": schema("id", "amount")})
    columns = {"total": {"inputFields": [{**name("clean"), "field": "amount", "transformations": [AGGREGATION]}]}}
    report = dataset(
        WORLD, "report", rows=2, facets={"columnLineage": {**FACET, "fields": columns}, "schema": schema("total")}
    )
    documentation = {"documentation": {**FACET, "description": "Adds up the orders"}, "sql": {**FACET, "query": "SUM"}}
    ledger = {**FACET, "inputRecordCount": 8, "processedCount": 8, "filteredCount": 0, "erroredCount": 0}
    proof = {"cdme_accountingLedger": ledger, "cdme_fidelityCertificate": facet_of(chain_of(1)[0])}
    limited = {"lineproof_sla": {**FACET, "freshnessMinutes": 5, "maxDurationMinutes": 2}}
    streaming = {"jobType": {**FACET, "processingType": "STREAMING", "integration": "FLINK"}}
    tags = [{"key": "gdpr_category", "value": "none"}, {"key": "residency", "value": "eu"}]
    tests = [{"assertion": "not_null", "success": True, "column": "id"}, {"assertion": "unique", "success": False}]
    tested = dataset(WORLD, "orders", rows=10, role="input")
    tested["inputFacets"]["dataQualityAssertions"] = {**FACET, "assertions": tests}
    return [
        event(LOAD, "START", 0, "load"),
        event(LOAD, "COMPLETE", 1, "load", outputs=[dataset(WORLD, "orders", rows=10, facets={"tags": tagged(tags)})]),
        event(CLEAN, "START", 2, "clean", inputs=[tested]),
        event(CLEAN, "COMPLETE", 3, "clean", outputs=[{**clean_place, **statistics(8)}]),
        event(REPORT, "START", 4, "report", inputs=[dataset(WORLD, "clean", rows=7, role="input")], job=documentation),
        event(REPORT, "COMPLETE", 5, "report", outputs=[report, dataset(WORLD, "orders")], run=proof),
        # A failed load changes no profile, although it states counts and a schema.
        event(FAILED, "START", 6, "load"),
        event(FAILED, "FAIL", 7, "load", outputs=[dataset(WORLD, "report", rows=99, facets={"schema": schema("x")})]),
        event(LATE, "START", 8, "late", job=limited),
        event(STREAM, "START", 9, "stream", job=streaming),
    ]


def event(run_id: str, kind: str | None, minute: int, job_name: str, **more: Any) -> bytes:
    """An event of a run of the pipeline."""
    made = document(
        eventType=kind or ABSENT,
        eventTime=f"2026-01-31T10:{minute:02}:00Z",
        run={"runId": run_id, "facets": more.get("run", {})},
        job={"namespace": WORLD, "name": job_name, "facets": more.get("job", {})},
        inputs=more.get("inputs", ABSENT),
        outputs=more.get("outputs", ABSENT),
    )
    return json.dumps(made).encode()


def dataset(namespace: str, label: str, rows: int | None = None, role: str = "output", **more: Any) -> dict[str, Any]:
    """A dataset, with the number of rows that were read or written."""
    return {"namespace": namespace, "name": label, **more, **({} if rows is None else statistics(rows, role))}


def statistics(rows: int, role: str = "output") -> dict[str, Any]:
    return {f"{role}Facets": {f"{role}Statistics": {**FACET, "rowCount": rows, "size": rows * 100}}}


def name(of: str) -> dict[str, str]:
    return {"namespace": WORLD, "name": of}


def symlink(to: str) -> dict[str, Any]:
    return {**FACET, "identifiers": [{**name(to), "type": "TABLE"}]}


def schema(*fields: str) -> dict[str, Any]:
    return {**FACET, "fields": [{"name": field, "type": "bigint"} for field in fields]}


def tagged(tags: list[dict[str, str]]) -> dict[str, Any]:
    return {**FACET, "tags": tags}
