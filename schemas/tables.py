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
EDGES = TableContract("edges", ("edge_id",), GRAPH)
DATASETS = TableContract("datasets", ("namespace", "name"), GRAPH)
JOBS = TableContract("jobs", ("namespace", "name"), GRAPH)
DATASET_SCHEMAS = TableContract("dataset_schemas", ("namespace", "name", "schema_hash"), GRAPH)

DERIVED = (
    *(RUNS, LINEAGE_EVENTS, RECORDS, CERTIFICATES, QUALITY_RESULTS, DEAD_LETTERS),
    *(EDGES, DATASETS, JOBS, DATASET_SCHEMAS),
)
"""The tables that are made from the archive, in the order in which a batch writes them."""

TABLES = (ARCHIVE, ACCEPTED_LOSSES, *DERIVED)
