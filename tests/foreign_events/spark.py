"""An application that runs one query: the listener's own facets, OTHER before START, and COMPLETE twice."""

from tests.foreign_events.airflow import DAG, DAG_RUN, NAMESPACE, TASK, TASK_RUN
from tests.foreign_events.integration import Document, Integration, java_client

SPARK = Integration("https://github.com/OpenLineage/OpenLineage/tree/1.42.0/integration/spark", java_client)
APPLICATION_RUN = "019caa10-0000-7000-8000-00000000a001"
QUERY_RUN = "019caa10-0000-7000-8000-00000000a002"
STATES = {APPLICATION_RUN: "COMPLETED", QUERY_RUN: "COMPLETED"}

APPLICATION = {
    "namespace": "tram-lake",
    "name": "ride_totals",
    "facets": {"jobType": SPARK.job_type("BATCH", "SPARK", "APPLICATION")},
}
QUERY = {
    "namespace": "tram-lake",
    "name": "ride_totals.overwrite_by_expression.lake_rides_daily",
    "facets": {
        "jobType": SPARK.job_type("BATCH", "SPARK", "SQL_JOB"),
        "sql": SPARK.sql("INSERT OVERWRITE lake.rides.daily SELECT line, count(*) FROM raw GROUP BY line", "sparksql"),
        "gcp_lineage": SPARK.custom(
            SPARK.schema_url("JobFacet"),
            displayName="ride totals",
            origin={"sourceType": "DATAPROC", "name": "tram/eu/7"},
        ),
    },
}
AIRFLOW_ROOT = {"run": {"runId": DAG_RUN}, "job": {"namespace": NAMESPACE, "name": DAG}}
APPLICATION_FACETS = {
    "parent": SPARK.parent(TASK_RUN, NAMESPACE, TASK, AIRFLOW_ROOT),
    "processing_engine": SPARK.engine("spark", "4.1.1"),
    "spark_properties": SPARK.custom(
        properties={
            "spark.master": "k8s://https://cluster.example:6443",
            "spark.app.name": "ride totals",
            "spark.sql.shuffle.partitions": "64",
        }
    ),
    "spark_applicationDetails": SPARK.custom(
        master="k8s://https://cluster.example:6443",
        appName="ride totals",
        applicationId="spark-5f0c",
        deployMode="cluster",
        driverHost="driver.tram.svc",
        userName="rides",
        uiWebUrl="http://driver.tram.svc:4040",
    ),
}
QUERY_FACETS = {
    "parent": SPARK.parent(APPLICATION_RUN, "tram-lake", "ride_totals", AIRFLOW_ROOT),
    "processing_engine": SPARK.engine("spark", "4.1.1"),
}
RELATION = "org.apache.spark.sql.catalyst.plans.logical."
PLAN = [
    {"class": f"{RELATION}OverwriteByExpression", "num-children": 1, "query": 0, "isByName": False, "writeOptions": {}},
    *(
        {
            "class": f"{RELATION}Project",
            "num-children": 1,
            "projectList": [[{"class": "AttributeReference", "exprId": {"id": number, "jvmId": "0"}, "qualifier": []}]],
            "stats": None,
        }
        for number in range(300)
    ),
]
UNKNOWN = {
    "description": {"@class": f"{RELATION}Aggregate", "id": 7, "streaming": False, "traceEnabled": False},
    "inputAttributes": [],
    "outputAttributes": [{"name": "line", "type": "string", "metadata": {}}],
}

RAW = {
    "namespace": "s3://tram-raw",
    "name": "rides/day=2026-03-01",
    "facets": {
        "schema": SPARK.schema(line="string", boarded_at="timestamp", card="string"),
        "dataSource": SPARK.source("s3://tram-raw"),
        "symlinks": SPARK.standard(
            "1-0-1",
            "SymlinksDatasetFacet",
            identifiers=[
                {"namespace": "arn:aws:glue:eu-north-1:000000000000", "name": "table/tram/rides", "type": "TABLE"},
                {"namespace": "hive://metastore.tram:9083", "name": "tram.rides", "type": "TABLE"},
            ],
        ),
        "storage": SPARK.standard("1-0-1", "StorageDatasetFacet", storageLayer="hive", fileFormat="parquet"),
    },
    "inputFacets": {
        "inputStatistics": SPARK.standard(
            "1-0-0", "InputStatisticsInputDatasetFacet", rowCount=48_211, size=9_007_199_254_740_993, fileCount=12
        ),
        "subset": SPARK.standard(
            "1-0-0",
            "InputSubsetInputDatasetFacet",
            "BaseSubsetDatasetFacet",
            inputCondition={"type": "partition", "partitions": [{"dimensions": {"day": "2026-03-01"}}]},
        ),
    },
}
FROM_RAW = {"namespace": RAW["namespace"], "name": RAW["name"]}
DAILY = {
    "namespace": "s3://tram-lake",
    "name": "warehouse/rides/daily",
    "facets": {
        "schema": SPARK.schema(line="string", rides="bigint", card_hash="string"),
        "dataSource": SPARK.source("s3://tram-lake"),
        "columnLineage": SPARK.standard(
            "1-2-0",
            "ColumnLineageDatasetFacet",
            fields={
                "line": {
                    "inputFields": [
                        {
                            **FROM_RAW,
                            "field": "line",
                            "transformations": [
                                {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
                            ],
                        }
                    ]
                },
                "card_hash": {
                    "inputFields": [
                        {
                            **FROM_RAW,
                            "field": "card",
                            "transformations": [
                                {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "sha2", "masking": True},
                                {"type": "INDIRECT", "subtype": "CONDITIONAL"},
                            ],
                        }
                    ]
                },
            },
            dataset=[
                {**FROM_RAW, "field": "line", "transformations": [{"type": "INDIRECT", "subtype": "GROUP_BY"}]},
                {**FROM_RAW, "field": "boarded_at", "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}]},
            ],
        ),
        "version": SPARK.standard("1-0-1", "DatasetVersionDatasetFacet", datasetVersion="5120934857120398"),
        "catalog": SPARK.standard(
            "1-1-0",
            "CatalogDatasetFacet",
            framework="iceberg",
            type="glue",
            name="lake",
            warehouseUri="s3://tram-lake/warehouse",
            catalogProperties={"io-impl": "org.apache.iceberg.aws.s3.S3FileIO"},
        ),
        "lifecycleStateChange": SPARK.standard(
            "1-0-1", "LifecycleStateChangeDatasetFacet", lifecycleStateChange="OVERWRITE"
        ),
        "datasetType": SPARK.standard("1-0-1", "DatasetTypeDatasetFacet", datasetType="TABLE", subType="MANAGED"),
    },
    "outputFacets": {
        "outputStatistics": SPARK.standard(
            "1-0-2", "OutputStatisticsOutputDatasetFacet", rowCount=31, size=18_440, fileCount=2
        ),
        "subset": SPARK.standard(
            "1-0-0",
            "OutputSubsetOutputDatasetFacet",
            "BaseSubsetDatasetFacet",
            outputCondition={"type": "location", "locations": ["s3://tram-lake/warehouse/rides/daily/data"]},
        ),
        "iceberg_commit_report": SPARK.custom(
            SPARK.schema_url("OutputDatasetFacet"),
            snapshotId=5120934857120398,
            sequenceNumber=3,
            operation="overwrite",
            commitMetrics={},
            metadata={},
        ),
    },
}


def _of_query(event_type: str, time: str, **facets: Document) -> Document:
    run = {"runId": QUERY_RUN, "facets": {**QUERY_FACETS, **facets}}
    return SPARK.run_event(event_type, time, run, QUERY, [RAW], [DAILY])


def _of_application(event_type: str, time: str) -> Document:
    return SPARK.run_event(event_type, time, {"runId": APPLICATION_RUN, "facets": APPLICATION_FACETS}, APPLICATION)


EVENTS = {
    "application starts": _of_application("START", "2026-03-02T04:00:00.123Z"),
    "query is planned": _of_query("OTHER", "2026-03-02T04:00:04.9Z", debug=SPARK.custom(classpath={}, logs=[])),
    "query starts": _of_query(
        "START",
        "2026-03-02T04:00:05.001Z",
        **{
            "spark.logicalPlan": SPARK.custom(plan=PLAN),
            "spark_unknown": SPARK.custom(output=UNKNOWN, inputs=[UNKNOWN, {}]),
            "environment-properties": SPARK.custom(
                **{"environment-properties": {"spark.databricks.clusterUsageTags": {}}}
            ),
        },
    ),
    "query runs": _of_query(
        "RUNNING",
        "2026-03-02T04:00:06.5Z",
        spark_jobDetails=SPARK.custom(
            jobId=0, jobDescription="", jobGroup="g-1", jobCallSite="insertInto at Rides.java:31"
        ),
    ),
    "query completes": _of_query("COMPLETE", "2026-03-02T04:01:00Z"),
    "query completes again": _of_query("COMPLETE", "2026-03-02T04:01:00.250Z"),
    "application completes": _of_application("COMPLETE", "2026-03-02T04:01:10Z"),
}
