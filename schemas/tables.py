"""What a reader has to know about the tables: names, keys, and the streaming query that writes each of them.

The columns of a table, with their comments, are in its module in `streaming/tables/`.
"""

from dataclasses import dataclass

INGEST, CURATE, GRAPH = "ingest", "curate", "graph"
"""The three streaming queries of the job, by name."""


@dataclass(frozen=True)
class TableContract:
    """A table as its readers know it."""

    name: str
    key: tuple[str, ...]
    """The columns that identify a row."""
    written_by: str
    """The streaming query that writes it."""


COORDINATES = ("topic", "partition", "offset")
"""The columns that identify a Kafka record."""

ARCHIVE = TableContract("archive", COORDINATES, INGEST)
ACCEPTED_LOSSES = TableContract("accepted_losses", ("topic", "partition", "first_offset"), INGEST)
RUNS = TableContract("runs", ("run_id",), CURATE)
LINEAGE_EVENTS = TableContract("lineage_events", ("event_id",), CURATE)
RECORDS = TableContract("records", COORDINATES, CURATE)
CERTIFICATES = TableContract("certificates", ("certificate_key",), CURATE)
QUALITY_RESULTS = TableContract("quality_results", ("result_id",), CURATE)
DEAD_LETTERS = TableContract("dead_letters", COORDINATES, CURATE)
QUARANTINE = TableContract("quarantine", ("query", *COORDINATES, "event_id"), CURATE)
JOB_IO = TableContract("job_io", ("io_id",), GRAPH)
COLUMN_LINEAGE = TableContract("column_lineage", ("edge_id",), GRAPH)
DATASETS = TableContract("datasets", ("namespace", "name"), GRAPH)
JOBS = TableContract("jobs", ("namespace", "name"), GRAPH)
DATASET_SCHEMAS = TableContract("dataset_schemas", ("namespace", "name", "schema_hash"), GRAPH)
DATASET_NODES = TableContract("dataset_nodes", ("namespace", "name"), GRAPH)

DERIVED = (
    *(RUNS, LINEAGE_EVENTS, RECORDS, CERTIFICATES, QUALITY_RESULTS, DEAD_LETTERS),
    *(JOB_IO, COLUMN_LINEAGE, DATASETS, JOBS, DATASET_SCHEMAS, DATASET_NODES),
)
"""The tables that are made from the archive, in the order in which a batch writes them."""

TABLES = (ARCHIVE, QUARANTINE, ACCEPTED_LOSSES, *DERIVED)

KEPT = (ARCHIVE.name, QUARANTINE.name, ACCEPTED_LOSSES.name)
"""The names of tables that a rebuild keeps: they cannot be made from others."""

FORMER = ("edges",)
"""The names of derived tables of earlier releases. A rebuild removes them, too."""
