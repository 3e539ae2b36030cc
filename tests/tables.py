"""Delta tables for tests of readers, written without Spark.

`make_tables` writes rows as they are given. `tables_of` writes what events state, as the model of `tests/model` says.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from lineproof.streaming.delta.table import Table
from lineproof.streaming.tables.registry import TABLES
from tests.certificates import of_facet
from tests.model.entities import dataset_schemas, datasets, jobs
from tests.model.events import Row, events
from tests.model.lineage import column_lineage, dataset_nodes
from tests.model.quality import quality_results
from tests.model.runs import runs

_SIMPLE = {
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "BOOLEAN": pa.bool_(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "DECIMAL(20,0)": pa.decimal128(20, 0),
}


def make_tables(directory: Path, rows: Mapping[str, Sequence[Row]] | None = None, *, mode: str = "error") -> Path:
    """Write all tables of the job with these rows, by table. A column that a row does not name is null."""
    given = rows or {}
    assert given.keys() <= {table.name for table in TABLES}
    for table in TABLES:
        schema = arrow_schema(table)
        of_table = given.get(table.name, [])
        assert all(row.keys() <= set(schema.names) for row in of_table), table.name
        complete = [{name: row.get(name) for name in schema.names} for row in of_table]
        if complete or mode == "error":
            write_deltalake(directory / table.name, pa.Table.from_pylist(complete, schema), mode=mode)  # type: ignore[call-overload]
    return directory


def tables_of(directory: Path, values: Iterable[bytes], more: Mapping[str, Sequence[Row]] | None = None) -> Path:
    """Write the tables that these events make, as plain JSON records on one partition, with further rows."""
    values = list(values)
    stated = _rows_of(values)
    for table, rows in (more or {}).items():
        stated[table] = [*stated.get(table, ()), *rows]
    return make_tables(directory, stated)


def arrow_schema(table: Table) -> pa.Schema:
    """The columns of a table as Arrow types."""
    columns = (column.partition(" COMMENT '")[0].removesuffix(" NOT NULL") for column in table.schema)
    return pa.schema([(name, _type(text)) for name, _, text in (column.partition(" ") for column in columns)])


def _type(text: str) -> pa.DataType:
    if text in _SIMPLE:
        return _SIMPLE[text]
    kind, inner = text.removesuffix(">").split("<", 1)
    if kind == "ARRAY":
        return pa.list_(_type(inner))
    fields = (field.partition(":") for field in _split(inner))
    return pa.struct([(name.strip(), _type(of.strip())) for name, _, of in fields])


def _split(text: str) -> list[str]:
    """The parts between the commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _rows_of(values: list[bytes]) -> dict[str, list[Row]]:
    found = events(values)
    distinct = {event.event_id: event for event in found}
    of_runs = [{**run, "io_id": _io_id(run["jobs"], run["inputs"], run["outputs"])} for run in runs(values).values()]
    of_job_events = [
        ([{"namespace": event.job[0], "name": event.job[1]}], *(event.document.get(side, []) for side in _SIDES))
        for event in distinct.values()
        if event.job and event.run_id is None
    ]
    return {
        "runs": of_runs,
        "lineage_events": [_lineage_event(event) for event in distinct.values()],
        "records": [_record(offset, event) for offset, event in enumerate(found)],
        "archive": [{"topic": "lineage.events", "partition": 0, "offset": n, "value": v} for n, v in enumerate(values)],
        "certificates": [row for event in distinct.values() for row in _certificates(event.document)],
        "quality_results": [
            {**{name: _text(value) for name, value in row.items()}, "result_id": str(number)}
            for number, row in enumerate(quality_results(values))
        ],
        "jobs": list(jobs(values).values()),
        "datasets": list(datasets(values).values()),
        "dataset_schemas": list(dataset_schemas(values).values()),
        "dataset_nodes": [
            {"namespace": of[0], "name": of[1], "node_namespace": node[0], "node_name": node[1]}
            for of, node in dataset_nodes(values).items()
        ],
        "column_lineage": [
            {**dict(zip(_COLUMN_ENDS, key, strict=True)), **row, "edge_id": _hash(key)}
            for key, row in column_lineage(values).items()
        ],
        "job_io": _combinations(
            [*((run["jobs"], run["inputs"], run["outputs"]) for run in of_runs), *of_job_events],
        ),
    }


_SIDES = ("inputs", "outputs")
_COLUMN_ENDS = (
    *("job_namespace", "job_name"),
    *("source_namespace", "source_name", "source_field", "target_namespace", "target_name", "target_field"),
)


def _names(entities: Sequence[Row]) -> list[Row]:
    return [{"namespace": one["namespace"], "name": one["name"]} for one in entities]


def _io_id(*sides: Sequence[Row]) -> str | None:
    return _hash([_names(side) for side in sides]) if any(sides[1:]) else None


def _combinations(stated: Iterable[tuple[Sequence[Row], ...]]) -> list[Row]:
    rows = {
        io_id: {"io_id": io_id, **dict(zip(("jobs", *_SIDES), map(_names, sides), strict=True))}
        for sides in stated
        if (io_id := _io_id(*sides))
    }
    return list(rows.values())


def _lineage_event(event: Any) -> Row:
    document = event.document
    job, dataset = document.get("job", {}), document.get("dataset", {})
    return {
        "event_id": event.event_id,
        "event_time": event.time,
        "kind": "RUN" if "run" in document else "DATASET" if dataset else "JOB",
        "event_type": document.get("eventType"),
        "run_id": event.run_id,
        "job_namespace": job.get("namespace"),
        "job_name": job.get("name"),
        "dataset_namespace": dataset.get("namespace"),
        "dataset_name": dataset.get("name"),
        **{side: _names(document.get(side, [])) for side in _SIDES},
        "producer": document.get("producer"),
        "schema_url": document.get("schemaURL"),
        "error_message": document.get("run", {}).get("facets", {}).get("errorMessage", {}).get("message"),
        "event": json.dumps(document),
    }


def _record(offset: int, event: Any) -> Row:
    ids = {"event_id": event.event_id, "run_id": event.run_id, "event_time": event.time, "timestamp": event.time}
    return {"topic": "lineage.events", "partition": 0, "offset": offset, **ids}


def _certificates(document: Row) -> list[Row]:
    facet = document.get("run", {}).get("facets", {}).get("cdme_fidelityCertificate")
    if not facet:
        return []
    certificate = of_facet(facet)
    stated = asdict(certificate)
    lists = {
        "invariants": [{"name": name, "passed": passed} for name, passed in certificate.invariants.items()],
        "materiality_thresholds": [
            {"name": name, "value": value} for name, value in certificate.materiality_thresholds.items()
        ],
    }
    computed = certificate.sealed().chain_hash
    issued_at = events([json.dumps({**document, "eventTime": certificate.timestamp}).encode()])[0].time
    columns = set(arrow_schema(next(table for table in TABLES if table.name == "certificates")).names)
    row = {**stated, **lists, "computed_hash": computed, "issued_at": issued_at, "certificate_key": _hash(facet)}
    return [{name: value for name, value in row.items() if name in columns}]


def _text(value: Any) -> Any:
    """Values that the table has as JSON text."""
    return json.dumps(value) if isinstance(value, dict) else value


def _hash(value: Any) -> str:
    return sha256(json.dumps(value, default=str).encode()).hexdigest()
