"""A streaming job that never ends: RUNNING with every checkpoint."""

from tests.foreign_events.integration import Document, Integration, java_client

FLINK = Integration("https://github.com/OpenLineage/OpenLineage/tree/1.42.0/integration/flink", java_client)
RUN = "019caa30-0000-7000-8000-00000000d001"
STATES = {RUN: "RUNNING"}

JOB = {
    "namespace": "tram-flink",
    "name": "delays per line",
    "facets": {"jobType": FLINK.job_type("STREAMING", "FLINK", "JOB")},
}
POSITIONS = {
    "namespace": "kafka://broker-1.tram:9092,broker-2.tram:9092",
    "name": "tram.positions",
    "facets": {
        "schema": FLINK.standard(
            "1-2-0",
            "SchemaDatasetFacet",
            fields=[
                {"name": "tram", "type": "long"},
                {"name": "at", "type": "record", "fields": [{"name": "lat", "type": "double"}, {"name": "lon"}]},
                {"name": "räls", "type": "array", "description": "Schienen", "fields": [{"name": "_element"}]},
            ],
        ),
        "datasetType": FLINK.standard("1-0-1", "DatasetTypeDatasetFacet", datasetType="TOPIC"),
    },
}
DELAYS = {"namespace": "kafka://broker-1.tram:9092", "name": "tram.delays", "facets": {}}


def _event(event_type: str, time: str, completed: int) -> Document:
    counts = {"completed": completed, "failed": 0, "in-progress": 1, "restored": 0, "total": completed + 1}
    facets = {
        "processing_engine": FLINK.engine("flink", "2.1.0"),
        "checkpoints": FLINK.custom(**counts),
        "flink_job": FLINK.custom(jobId="d8f1a2c94bb1e34f0000000000000001"),
    }
    return FLINK.run_event(event_type, time, {"runId": RUN, "facets": facets}, JOB, [POSITIONS], [DELAYS])


EVENTS = {
    "starts": _event("START", "2026-03-01T00:00:00.000000001Z", 0),
    "runs": _event("RUNNING", "2026-03-01T00:01:00.123456789Z", 1),
    "still runs a day later": _event("RUNNING", "2026-03-02T00:01:00.123Z", 1440),
}
