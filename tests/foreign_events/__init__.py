"""Events in the form of other OpenLineage integrations, written from the specification: by name, as bytes."""

from tests.foreign_events import airflow, dbt, debezium, flink, others, spark, trino
from tests.foreign_events.integration import Document, python_client

_SENT = {
    "airflow": (airflow.EVENTS, airflow.AIRFLOW.write),
    "dbt": (dbt.EVENTS, dbt.DBT.write),
    "debezium": (debezium.EVENTS, debezium.DEBEZIUM.write),
    "flink": (flink.EVENTS, flink.FLINK.write),
    "spark": (spark.EVENTS, spark.SPARK.write),
    "trino": (trino.EVENTS, trino.TRINO.write),
    "others": (others.EVENTS, python_client),
}

DOCUMENTS: dict[str, Document] = {
    f"{integration}: {name}": document
    for integration, (events, _) in _SENT.items()
    for name, document in events.items()
}
PAYLOADS: dict[str, bytes] = {
    f"{integration}: {name}": write(document)
    for integration, (events, write) in _SENT.items()
    for name, document in events.items()
}
STATES: dict[str, str] = {
    **airflow.STATES,
    **dbt.STATES,
    **debezium.STATES,
    **flink.STATES,
    **spark.STATES,
    **trino.STATES,
    **others.STATES,
}
"""The final state of each run."""
