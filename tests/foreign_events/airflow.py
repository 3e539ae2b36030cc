"""A DAG run with a task that succeeds and a task that fails: the provider's own facets, parents with roots."""

from tests.foreign_events.integration import Document, Integration, python_client

AIRFLOW = Integration("https://github.com/apache/airflow/tree/providers-openlineage/2.9.0", python_client)
NAMESPACE = "tram-airflow"
DAG = "tram_nightly"
TASK = f"{DAG}.lake.ride_totals"
QUALITY = f"{DAG}.lake.check-totals"
DAG_RUN = "019caa00-0000-7000-8000-00000000b001"
TASK_RUN = "019caa00-0000-7000-8000-00000000b002"
QUALITY_RUN = "019caa00-0000-7000-8000-00000000b003"
STATES = {DAG_RUN: "FAILED", TASK_RUN: "COMPLETED", QUALITY_RUN: "FAILED"}

_FACETS = "https://raw.githubusercontent.com/apache/airflow/main/providers/openlineage/facets"
ROOT = {"run": {"runId": DAG_RUN}, "job": {"namespace": NAMESPACE, "name": DAG}}
DAG_INFO = {
    "dag_id": DAG,
    "description": "Fährt jede Nacht 🚋",
    "fileloc": "/opt/dags/tram_nightly.py",
    "owner": "rides",
    "start_date": "2026-01-01T00:00:00+00:00",
    "tags": "['nightly', 'tram']",
    "timetable": {"expression": "0 4 * * *", "timezone": "Europe/Stockholm"},
}
DAG_RUN_INFO = {
    "conf": {},
    "dag_id": DAG,
    "data_interval_end": "2026-03-02T00:00:00+00:00",
    "data_interval_start": "2026-03-01T00:00:00+00:00",
    "run_id": "scheduled__2026-03-01T00:00:00+00:00",
    "run_type": "scheduled",
}
NOMINAL_TIME = AIRFLOW.standard(
    "1-0-1",
    "NominalTimeRunFacet",
    nominalStartTime="2026-03-01T00:00:00+00:00",
    nominalEndTime="2026-03-02T00:00:00+00:00",
)
DAG_JOB = {
    "namespace": NAMESPACE,
    "name": DAG,
    "facets": {
        "jobType": AIRFLOW.job_type("BATCH", "AIRFLOW", "DAG"),
        "documentation": AIRFLOW.standard(
            "1-1-0", "DocumentationJobFacet", description="# Rides\nof the *day before*", contentType="text/markdown"
        ),
        "ownership": AIRFLOW.standard(
            "1-0-1", "OwnershipJobFacet", owners=[{"name": "rides", "type": "MAINTAINER"}, {"name": "team:data"}]
        ),
        "tags": AIRFLOW.standard(
            "1-0-0", "TagsJobFacet", tags=[{"key": "nightly", "value": "true", "source": "AIRFLOW"}]
        ),
        "airflow": AIRFLOW.custom(
            f"{_FACETS}/AirflowJobFacet.json",
            taskGroups={"lake": {"parent_group": "", "tooltip": "", "ui_color": "CornflowerBlue"}},
            taskTree={"lake.ride_totals": {"lake.check-totals": {}}},
            tasks={"lake.ride_totals": {"is_setup": False, "operator": "x.SparkSubmitOperator", "task_group": "lake"}},
        ),
    },
}
TASK_JOB = {
    "namespace": NAMESPACE,
    "name": TASK,
    "facets": {
        "jobType": AIRFLOW.job_type("BATCH", "AIRFLOW", "TASK"),
        "sourceCode": AIRFLOW.standard(
            "1-0-1", "SourceCodeJobFacet", language="python", sourceCode='def totals():\n    return "\\u00e5"\n'
        ),
        "sourceCodeLocation": AIRFLOW.standard(
            "1-1-0",
            "SourceCodeLocationJobFacet",
            type="git",
            url="https://git.example/tram/dags/blob/4fd2/tram_nightly.py",
            repoUrl="https://git.example/tram/dags",
            version="4fd2",
        ),
    },
}
QUALITY_JOB = {
    "namespace": NAMESPACE,
    "name": QUALITY,
    "facets": {"jobType": AIRFLOW.job_type("BATCH", "AIRFLOW", "TASK")},
}
TASK_DEPENDENCIES = AIRFLOW.standard(
    "1-0-1",
    "JobDependenciesRunFacet",
    upstream=[],
    downstream=[
        {
            "job": {"namespace": NAMESPACE, "name": QUALITY},
            "run": {"runId": QUALITY_RUN},
            "dependency_type": "DIRECT_INVOCATION",
            "sequence_trigger_rule": "FINISH_TO_START",
            "status_trigger_rule": "EXECUTE_ON_SUCCESS",
        }
    ],
    trigger_rule="all_success",
)


def _task_facets(task_id: str, try_number: int) -> Document:
    return {
        "parent": AIRFLOW.parent(DAG_RUN, NAMESPACE, DAG, ROOT),
        "nominalTime": NOMINAL_TIME,
        "processing_engine": AIRFLOW.engine("Airflow", "3.1.2"),
        "airflow": AIRFLOW.custom(
            f"{_FACETS}/AirflowRunFacet.json",
            dag=DAG_INFO,
            dagRun=DAG_RUN_INFO,
            taskInstance={"duration": 61.25, "map_index": -1, "pool": "default_pool", "try_number": try_number},
            task={"task_id": task_id, "depends_on_past": False, "upstream_task_ids": "[]", "operator_class": "Op"},
            taskUuid=TASK_RUN,
        ),
        "unknownSourceAttribute": AIRFLOW.custom(
            "https://openlineage.io/spec/1-0-5/OpenLineage.json#/definitions/BaseFacet",
            unknownItems=[{"name": "SparkSubmitOperator", "properties": {"task_id": task_id, "params": {}}}],
        ),
    }


def _dag_run(**facets: Document) -> Document:
    dag_run = AIRFLOW.custom(f"{_FACETS}/AirflowDagRunFacet.json", dag=DAG_INFO, dagRun=DAG_RUN_INFO)
    return {"runId": DAG_RUN, "facets": {"nominalTime": NOMINAL_TIME, "airflowDagRun": dag_run, **facets}}


EVENTS = {
    "DAG run starts": AIRFLOW.run_event(
        "START",
        "2026-03-02T03:59:50.000001+00:00",
        _dag_run(
            tags=AIRFLOW.standard(
                "1-0-0", "TagsRunFacet", tags=[{"key": "deployment", "value": "blue", "source": "CONFIG"}]
            ),
            environmentVariables=AIRFLOW.standard(
                "1-0-0",
                "EnvironmentVariablesRunFacet",
                environmentVariables=[{"name": "REGION", "value": "eu-north-1"}],
            ),
            executionParameters=AIRFLOW.standard(
                "1-0-0", "ExecutionParametersRunFacet", parameters=[{"key": "day", "value": "2026-03-01"}]
            ),
        ),
        DAG_JOB,
    ),
    "task starts": AIRFLOW.run_event(
        "START",
        "2026-03-02T03:59:55.120000+00:00",
        {"runId": TASK_RUN, "facets": {**_task_facets("ride_totals", 1), "jobDependencies": TASK_DEPENDENCIES}},
        TASK_JOB,
    ),
    "task completes": AIRFLOW.run_event(
        "COMPLETE",
        "2026-03-02T04:01:12.000000+00:00",
        {
            "runId": TASK_RUN,
            "facets": {
                **_task_facets("ride_totals", 1),
                "externalQuery": AIRFLOW.standard(
                    "1-0-2", "ExternalQueryRunFacet", externalQueryId="01b2-7", source="snowflake://tram-eu"
                ),
            },
        },
        TASK_JOB,
    ),
    "other task starts": AIRFLOW.run_event(
        "START",
        "2026-03-02T04:01:20+00:00",
        {"runId": QUALITY_RUN.upper(), "facets": _task_facets("check-totals", 2)},
        QUALITY_JOB,
    ),
    "other task fails": AIRFLOW.run_event(
        "FAIL",
        "2026-03-02T04:01:21+00:00",
        {
            "runId": QUALITY_RUN,
            "facets": {
                **_task_facets("check-totals", 2),
                "errorMessage": AIRFLOW.standard(
                    "1-0-1",
                    "ErrorMessageRunFacet",
                    message="Totals differ: 31 ≠ 30",
                    programmingLanguage="python",
                    stackTrace='Traceback (most recent call last):\n  File "check.py", line 7\n',
                ),
                "extractionError": AIRFLOW.standard(
                    "1-1-2",
                    "ExtractionErrorRunFacet",
                    totalTasks=2,
                    failedTasks=1,
                    errors=[{"errorMessage": "unreadable query", "task": "SELEC 1", "taskNumber": 1}],
                ),
            },
        },
        QUALITY_JOB,
    ),
    "DAG run fails": AIRFLOW.run_event(
        "FAIL",
        "2026-03-02T04:01:30+00:00",
        _dag_run(
            airflowState=AIRFLOW.custom(
                f"{_FACETS}/AirflowStateRunFacet.json",
                dagRunState="failed",
                tasksState={"lake.ride_totals": "success", "lake.check-totals": "failed"},
                tasksDuration={"lake.ride_totals": 61.25, "lake.check-totals": 1.0},
            )
        ),
        DAG_JOB,
    ),
}
