"""A connector that copies PostgreSQL tables to Kafka topics: two tasks, one of which fails."""

from tests.foreign_events.integration import Document, Integration, java_client

DEBEZIUM = Integration("https://github.com/debezium/debezium/v3.4.0.Final", java_client)
CONNECTOR_RUN = "019caa40-0000-7000-8000-00000000e000"
FIRST_TASK = "019caa40-0000-7000-8000-00000000e001"
SECOND_TASK = "019caa40-0000-7000-8000-00000000e002"
STATES = {FIRST_TASK: "RUNNING", SECOND_TASK: "FAILED"}

DATABASE = "postgres://db.tram:5432"
BROKER = "kafka://broker-1.tram:9092"
CONFIGURATION = DEBEZIUM.custom(
    "https://github.com/debezium/debezium/v3.4.0.Final/openlineage/DebeziumRunFacet.json",
    configs=[
        "connector.class=io.debezium.connector.postgresql.PostgresConnector",
        "database.password=********",
        'message.key.columns=public.cards:id;public."rides 2":line,day',
        "topic.prefix=tram",
    ],
    additionalProperties={},
)
CARDS = {
    "namespace": DATABASE,
    "name": "tram.public.cards",
    "facets": {"schema": DEBEZIUM.schema(id="int8", holder="varchar", balance="numeric(12,2)")},
}
TOPIC = {
    "namespace": BROKER,
    "name": "tram.public.cards",
    "facets": {
        "schema": DEBEZIUM.standard(
            "1-2-0",
            "SchemaDatasetFacet",
            fields=[
                {"name": "before", "type": "STRUCT", "fields": [{"name": "id", "type": "INT64"}]},
                {"name": "after", "type": "STRUCT", "fields": [{"name": "id", "type": "INT64"}]},
                {"name": "ts_ns", "type": "INT64"},
            ],
        )
    },
}


def _event(event_type: str, time: str, task: int, run_id: str, **facets: Document) -> Document:
    job = {
        "namespace": "tram-connect",
        "name": f"tram.{task}",
        "facets": {
            "jobType": DEBEZIUM.job_type("STREAMING", "DEBEZIUM", "TASK"),
            "documentation": DEBEZIUM.standard("1-1-0", "DocumentationJobFacet", description="Kortköp som händelser"),
            "ownership": DEBEZIUM.standard("1-0-1", "OwnershipJobFacet", owners=[{"name": "cards", "type": "Owner"}]),
            "tags": DEBEZIUM.standard("1-0-0", "TagsJobFacet", tags=[{"key": "env", "value": "prod"}]),
        },
    }
    every = {"processing_engine": DEBEZIUM.engine("Debezium", "3.4.0.Final"), "debezium_config": CONFIGURATION}
    root = {"run": {"runId": CONNECTOR_RUN}, "job": {"namespace": "tram-connect", "name": "tram"}}
    parent = DEBEZIUM.parent(CONNECTOR_RUN, "tram-connect", "tram", root)
    run = {"runId": run_id, "facets": {"parent": parent, **every, **facets}}
    return DEBEZIUM.run_event(event_type, time, run, job, [CARDS], [TOPIC] if event_type == "RUNNING" else [])


BROKEN = DEBEZIUM.standard(
    "1-0-1",
    "ErrorMessageRunFacet",
    message='replication slot "tram" is active for PID 77',
    programmingLanguage="Java",
    stackTrace="io.debezium.DebeziumException\n\tat io.debezium.Task.poll(Task.java:9)",
)
EVENTS = {
    "task starts": _event("START", "2026-02-28T23:59:59.999999Z", 0, FIRST_TASK),
    "task runs": _event("RUNNING", "2026-03-01T00:00:02.5Z", 0, FIRST_TASK),
    "second task starts": _event("START", "2026-02-28T23:59:59.999999Z", 1, SECOND_TASK),
    "second task breaks": _event("FAIL", "2026-03-01T00:00:03Z", 1, SECOND_TASK, errorMessage=BROKEN),
}
