"""A project with one model and its tests, as an older `dbt-ol` sends it: the specification's first generation."""

from tests.foreign_events.integration import Document, Integration, python_client

DBT = Integration(
    "https://github.com/OpenLineage/OpenLineage/tree/1.30.0/integration/dbt", python_client, "1-0-5", "#/definitions/"
)
PROJECT_RUN = "019caa20-0000-7000-8000-00000000c001"
MODEL_RUN = "019caa20-0000-7000-8000-00000000c002"
TEST_RUN = "019caa20-0000-7000-8000-00000000c003"
STATES = {PROJECT_RUN: "COMPLETED", MODEL_RUN: "COMPLETED", TEST_RUN: "COMPLETED"}

_FACETS = "https://openlineage.example/dbt/facets"
PROJECT = {"namespace": "tram-dbt", "name": "dbt-run-tram", "facets": {"jobType": DBT.job_type("BATCH", "DBT", "JOB")}}
MODEL = {
    "namespace": "tram-dbt",
    "name": "tram.analytics.rides.line_totals",
    "facets": {
        "jobType": DBT.job_type("BATCH", "DBT", "MODEL"),
        "sql": DBT.custom(
            "https://openlineage.io/spec/facets/1-0-0/SQLJobFacet.json#/definitions/SQLJobFacet",
            query='select line, sum(rides) as "rides" from {{ ref("daily") }} -- per line\ngroup by 1',
        ),
        "dbt_job": DBT.custom(f"{_FACETS}/dbt-job.json", tags=["nightly"], meta={}),
    },
}
TESTS = {"namespace": "tram-dbt", "name": "tram.rides.line_totals.test", "facets": {}}

WAREHOUSE = "snowflake://tram-eu"
DAILY = {
    "namespace": WAREHOUSE,
    "name": "TRAM.RIDES.DAILY",
    "facets": {"dataSource": DBT.source(WAREHOUSE), "schema": DBT.schema(line="TEXT", rides="NUMBER")},
}
LINE_TOTALS = {
    "namespace": WAREHOUSE,
    "name": "TRAM.ANALYTICS.LINE_TOTALS",
    "facets": {
        "dataSource": DBT.source(WAREHOUSE),
        "schema": DBT.schema(line="TEXT", rides="NUMBER(38,0)"),
        "documentation": DBT.standard(
            "1-1-0", "DocumentationDatasetFacet", description="Rides per line", contentType="text/plain"
        ),
        "columnLineage": DBT.standard(
            "1-0-1",
            "ColumnLineageDatasetFacet",
            fields={
                "rides": {
                    "inputFields": [{"namespace": WAREHOUSE, "name": "TRAM.RIDES.DAILY", "field": "rides"}],
                    "transformationDescription": "sum(rides)",
                    "transformationType": "AGGREGATION",
                },
                "line": {
                    "inputFields": [{"namespace": WAREHOUSE, "name": "TRAM.RIDES.DAILY", "field": "line"}],
                    "transformationDescription": "",
                    "transformationType": "IDENTITY",
                },
            },
        ),
    },
    "outputFacets": {
        # As a warehouse driver returns it: an integer written as a fraction.
        "outputStatistics": DBT.standard("1-0-2", "OutputStatisticsOutputDatasetFacet", rowCount=12_000_000.0),
    },
}
CHECKED = {
    **DAILY,
    "inputFacets": {
        "dataQualityAssertions": DBT.standard(
            "1-1-0",
            "DataQualityAssertionsDatasetFacet",
            assertions=[
                {"assertion": "not_null", "success": True, "column": "line"},
                {"assertion": "accepted_range", "success": False, "column": "rides", "severity": "warn"},
                {"assertion": "row_count", "success": True, "expected": "31", "actual": "31", "params": {"above": 0}},
            ],
        ),
        "dataQualityMetrics": DBT.standard(
            "1-0-3",
            "DataQualityMetricsInputDatasetFacet",
            rowCount=31,
            bytes=18_440,
            columnMetrics={"rides": {"nullCount": 0, "min": 0, "max": 4211.5, "quantiles": {"0.5": 17, "0.99": 1e3}}},
        ),
    },
}
VERSIONS = {
    "dbt_version": DBT.custom(f"{_FACETS}/dbt-version-run-facet.json", version="1.10.4"),
    "dbt_run": DBT.custom(
        f"{_FACETS}/dbt-run-run-facet.json",
        invocation_id="3a1c7f8e-0000-4000-8000-000000000001",
        project_name="tram",
        profile_name="prod",
    ),
    "processing_engine": DBT.engine("dbt", "1.10.4"),
}


def _run(run_id: str, **facets: Document) -> Document:
    child = {} if run_id == PROJECT_RUN else {"parent": DBT.parent(PROJECT_RUN, "tram-dbt", "dbt-run-tram")}
    return {"runId": run_id, "facets": {**VERSIONS, **child, **facets}}


EVENTS = {
    "project starts": DBT.run_event("START", "2026-03-02T05:00:00.000000Z", _run(PROJECT_RUN), PROJECT),
    "model starts": DBT.run_event("START", "2026-03-02T05:00:01.5Z", _run(MODEL_RUN), MODEL, [DAILY], [LINE_TOTALS]),
    "model completes": DBT.run_event(
        "COMPLETE", "2026-03-02T05:00:09.75Z", _run(MODEL_RUN), MODEL, [DAILY], [LINE_TOTALS]
    ),
    "tests complete without a start": DBT.run_event(
        "COMPLETE",
        "2026-03-02T05:00:12Z",
        _run(
            TEST_RUN,
            test=DBT.standard(
                "1-0-1",
                "TestRunFacet",
                tests=[
                    {"name": "not_null_daily_line", "status": "pass", "severity": "error", "type": "not_null"},
                    {"name": "range_daily_rides", "status": "fail", "severity": "warn", "params": {"max": 4000}},
                ],
            ),
        ),
        TESTS,
        [CHECKED],
    ),
    "project completes": DBT.run_event("COMPLETE", "2026-03-02T05:00:13Z", _run(PROJECT_RUN), PROJECT),
}
