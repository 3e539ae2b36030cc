"""Two queries, one of which fails: times with offsets, numbers as text, an error without a required member."""

from tests.foreign_events.integration import Document, Integration, java_client

TRINO = Integration("https://github.com/trinodb/trino/plugin/trino-openlineage", java_client)
QUERY = "20260302_061500_00042_tram1"
FAILED_QUERY = "20260302_061600_00043_tram1"
QUERY_RUN = "019caa50-0000-7000-8000-00000000f001"
FAILED_RUN = "019caa50-0000-7000-8000-00000000f002"
STATES = {QUERY_RUN: "COMPLETED", FAILED_RUN: "FAILED"}
NAMESPACE = "trino://trino.tram:8443"

DAILY = {"namespace": NAMESPACE, "name": "lake.rides.daily", "facets": {"schema": TRINO.schema(line="varchar")}}
PEAKS = {
    "namespace": NAMESPACE,
    "name": "lake.rides.peaks",
    "facets": {
        "schema": TRINO.schema(line="varchar", peak="row(hour integer, rides bigint)"),
        "columnLineage": TRINO.standard(
            "1-2-0",
            "ColumnLineageDatasetFacet",
            fields={
                "line": {
                    "inputFields": [
                        {
                            "namespace": NAMESPACE,
                            "name": "lake.rides.daily",
                            "field": "line",
                            "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
                        }
                    ]
                },
                "peak": {"inputFields": []},
            },
        ),
    },
    "outputFacets": {"outputStatistics": TRINO.standard("1-0-2", "OutputStatisticsOutputDatasetFacet", rowCount=0)},
}
STATISTICS = {
    "cpuTime": "PT0.412S",
    "failedCpuTime": "PT0S",
    "peakUserMemoryBytes": "18446744073709551615",
    "cumulativeMemory": "1.5E12",
    "physicalInputRows": "31",
    "complete": "true",
    "operatorSummaries": '[{"stageId":0,"operatorType":"TableScanOperator"}]',
}


def _run(run_id: str, query: str, **facets: Document) -> Document:
    plan = "Output[columnNames = [rows]]\n│   Layout: [rows:bigint]\n└─ TableCommit\n"
    metadata = {"query_id": query, "transaction_id": "f3b0-1", "query_plan": plan}
    context = {
        "server_address": "trino.tram",
        "environment": "prod",
        "query_type": "INSERT",
        "user": "anna@tram.example",
        "original_user": "anna@tram.example",
        "source": "trino-cli",
        "user_agent": "StatementClientV1/478",
    }
    every = {
        "processing_engine": TRINO.engine("trino", "478"),
        "trino_metadata": TRINO.custom(**metadata),
        "trino_query_context": TRINO.custom(**context),
    }
    return {"runId": run_id, "facets": {**every, **facets}}


def _job(name: str, query: str) -> Document:
    facets = {"jobType": TRINO.job_type("BATCH", "TRINO", "QUERY"), "sql": TRINO.sql(query, "trino")}
    return {"namespace": NAMESPACE, "name": name, "facets": facets}


INSERT = _job(QUERY, "INSERT INTO lake.rides.peaks SELECT line, NULL FROM lake.rides.daily WHERE line <> 'Ü'")
DELETE = _job(FAILED_QUERY, "DELETE FROM lake.rides.peaks")
NOMINAL_TIME = TRINO.standard(
    "1-0-1",
    "NominalTimeRunFacet",
    nominalStartTime="2026-03-02T08:15:00.1+02:00",
    nominalEndTime="2026-03-02T08:15:02.35+02:00",
)
# The plugin sets the message alone, although the specification requires programmingLanguage too.
ERROR = TRINO.standard("1-0-1", "ErrorMessageRunFacet", message="Access Denied: Cannot delete from table rides.peaks")

EVENTS = {
    "query starts": TRINO.run_event("START", "2026-03-02T08:15:00.100000001+02:00", _run(QUERY_RUN, QUERY), INSERT),
    "query completes": TRINO.run_event(
        "COMPLETE",
        "2026-03-02T11:45:02.35+05:30",
        _run(QUERY_RUN, QUERY, trino_query_statistics=TRINO.custom(**STATISTICS), nominalTime=NOMINAL_TIME),
        INSERT,
        [DAILY],
        [PEAKS],
    ),
    "other query fails": TRINO.run_event(
        "FAIL", "2026-03-02T01:16:00-05:00", _run(FAILED_RUN, FAILED_QUERY, errorMessage=ERROR), DELETE
    ),
}
