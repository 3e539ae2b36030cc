"""Print every run that has ended, as soon as the tables have it.

Start a broker and the job with `lineproof up --detach`, replace localhost:9092 by the address that `lineproof status`
shows, and run `python examples/subscribe.py` in the project's folder. A consumer needs confluent-kafka, fastavro and
the schema file, but no lineproof. Topics and keys: docs/topics.md.
"""

import io

from confluent_kafka import Consumer
from fastavro import schemaless_reader
from fastavro.schema import load_schema

schema = load_schema("schemas/run.avsc")
consumer = Consumer({"bootstrap.servers": "localhost:9092", "group.id": "me", "auto.offset.reset": "earliest"})
consumer.subscribe(["lineage.runs"])
seen = set()  # delivery is at least once: a repeated record has the same record_id
while True:
    message = consumer.poll(1)
    if message and not message.error():
        # The first 10 bytes are Avro's single-object header: C3 01 and the fingerprint of the schema.
        run = schemaless_reader(io.BytesIO(message.value()[10:]), schema)
        if run["record_id"] not in seen:
            seen.add(run["record_id"])
            print(run["run_id"], run["state"], run["duration_ms"], flush=True)
