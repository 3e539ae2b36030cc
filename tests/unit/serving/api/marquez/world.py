"""A few jobs and datasets for tests of Marquez's routes, as events."""

import json
import uuid
from typing import Any

from tests.events import ABSENT, document

FACET = {"_producer": "https://example.com/tests", "_schemaURL": "https://example.com/Facet.json"}
DATABASE, LAKE = "postgres://db.internal:5432", "s3://lake"
ORDERS, DAILY, REPORT = (DATABASE, "shop.public.orders"), (LAKE, "orders/daily"), (LAKE, "report")
ALIAS = ("hive://metastore:9083", "shop.orders_daily")
LOAD, PUBLISH, STREAM = ("shop", "dag.load_orders"), ("shop", "publish"), ("shop", "stream")
HOSTILE = (
    "<script>alert(1)</script>",
    "'; DROP TABLE runs;--",
    'quote " and \\ backslash',
    "a/b%2Fc?d#e&f=g+h i",
    "x" * 2000,
    "\u202egnp.exe",
    "😀 :x: \uff46",
    "tab\tnewline\n\u0001\u001b[31m",
    "https://host:8080/path:with:colons",
    "*",
)


def run_id(number: int) -> str:
    return str(uuid.UUID(int=number))


def event(type_: str, time: str, run: int, job: tuple[str, str], **members: Any) -> bytes:
    """An event of a run; `run_facets` and `job_facets` are those of run and job."""
    run_facets, job_facets = members.pop("run_facets", {}), members.pop("job_facets", {})
    members = {"inputs": [], "outputs": [], **members}
    return json.dumps(
        document(
            eventType=type_,
            eventTime=f"2026-01-31T{time}Z",
            run={"runId": run_id(run), "facets": {name: {**FACET, **facet} for name, facet in run_facets.items()}},
            job={
                "namespace": job[0],
                "name": job[1],
                "facets": {name: {**FACET, **facet} for name, facet in job_facets.items()},
            },
            **members,
        )
    ).encode()


def dataset(name: tuple[str, str], facets: dict[str, Any] | None = None, **others: Any) -> dict[str, Any]:
    stated = {key: {**FACET, **facet} for key, facet in (facets or {}).items()}
    return {"namespace": name[0], "name": name[1], "facets": stated, **others}


def schema(*fields: str) -> dict[str, Any]:
    return {"fields": [{"name": field, "type": "bigint", "description": f"the {field}"} for field in fields]}


def columns(target: str, source: tuple[str, str], field: str) -> dict[str, Any]:
    transformation = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum", "masking": False}
    of = {"namespace": source[0], "name": source[1], "field": field, "transformations": [transformation]}
    return {"fields": {target: {"inputFields": [of]}}}


def load(run: int, hour: int, end: str, *fields: str) -> list[bytes]:
    """A run of `load_orders`: from the database to the lake."""
    source = dataset(
        ORDERS,
        {
            "schema": schema("id", "amount"),
            "dataSource": {"name": "shop database", "uri": DATABASE},
            "tags": {"tags": [{"key": "pii", "value": "true"}, {"key": "level", "value": "3", "field": "amount"}]},
            "documentation": {"description": "One row per order."},
        },
    )
    target = dataset(
        DAILY,
        {
            "schema": schema(*fields),
            "columnLineage": columns("total", ORDERS, "amount"),
            "dataQualityAssertions": {
                "assertions": [
                    {"assertion": "not_null", "column": "total", "success": True},
                    {"assertion": "row_count", "success": False},
                ]
            },
        },
        outputFacets={"outputStatistics": {**FACET, "rowCount": 7}},
    )
    parent = {"run": {"runId": run_id(900)}, "job": {"namespace": "shop", "name": "dag"}}
    job_facets = {
        "sql": {"query": "SELECT 1"},
        "documentation": {"description": "Loads orders."},
        "sourceCodeLocation": {"type": "git", "url": "https://example.com/load.py"},
        "jobType": {"processingType": "BATCH", "integration": "SPARK", "jobType": "JOB"},
    }
    run_facets = {
        "parent": parent,
        "nominalTime": {"nominalStartTime": f"2026-01-31T{hour:02}:00:00Z"},
        "big": {"number": 2**70, "text": "\ud800"},
    }
    facets = {"run_facets": run_facets, "job_facets": job_facets}
    return [
        event("START", f"{hour:02}:00:01", run, LOAD, inputs=[source], **facets),
        event(end, f"{hour:02}:00:03.500", run, LOAD, outputs=[target], **facets),
    ]


def events() -> list[bytes]:
    """Two loads with different schemas, a failed run, an open run, a job and a dataset without runs."""
    alias = dataset(
        ALIAS,
        {
            "symlinks": {"identifiers": [{"namespace": DAILY[0], "name": DAILY[1], "type": "TABLE"}]},
            "ownership": {"owners": [{"name": "team", "type": "OWNER"}]},
        },
    )
    report = dataset(REPORT, {"schema": schema("sum"), "columnLineage": columns("sum", DAILY, "total")})
    return [
        *load(1, 8, "COMPLETE", "total"),
        *load(2, 9, "COMPLETE", "total", "currency"),
        *load(3, 10, "FAIL", "total", "currency"),
        event("START", "11:00:00", 4, PUBLISH, inputs=[alias]),
        event("COMPLETE", "11:00:02", 4, PUBLISH, outputs=[report]),
        event("START", "11:30:00", 5, STREAM, job_facets={"jobType": {"processingType": "STREAMING"}}),
        json.dumps(
            document(
                eventType=ABSENT,
                run=ABSENT,
                eventTime="2026-01-31T12:00:00Z",
                job={"namespace": "shop", "name": "planned", "facets": {}},
                inputs=[dataset(REPORT)],
                outputs=[dataset((LAKE, "planned"))],
            )
        ).encode(),
        json.dumps(
            document(
                eventType=ABSENT,
                run=ABSENT,
                job=ABSENT,
                inputs=ABSENT,
                outputs=ABSENT,
                eventTime="2026-01-31T12:00:00Z",
                dataset=dataset((LAKE, "topic"), {"datasetType": {"datasetType": "TOPIC"}}),
            )
        ).encode(),
    ]


def hostile_events() -> list[bytes]:
    """A run for each hostile name, as namespace and name of its job and of what it writes."""
    return [
        event(
            "COMPLETE",
            "13:00:00",
            100 + number,
            (name, name),
            inputs=[dataset((name, "input"), {"schema": schema(name)})],
            outputs=[
                dataset((name, name), {"schema": schema(name), "columnLineage": columns(name, (name, "input"), name)})
            ],
        )
        for number, name in enumerate(HOSTILE)
    ]
