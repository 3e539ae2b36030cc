"""Print every run that has ended, as soon as the tables have it.

Start a broker and the job with `lineproof up --detach`, replace localhost:9092 by the address that `lineproof status`
shows, and run `python examples/subscribe.py` in the project's folder. A consumer needs confluent-kafka, fastavro and
the schema file, but no lineproof. Topics and keys: docs/topics.md.
"""

import io
from pathlib import Path

from confluent_kafka import Consumer
from fastavro import schemaless_reader
from fastavro.schema import fingerprint, load_schema, to_parsing_canonical_form

schemas = [load_schema(file) for file in sorted(Path("schemas/released").glob("run.*.avsc"))]
# A record begins with Avro's single-object header: C3 01 and the fingerprint of the schema that it was written with.
written = {bytes.fromhex(fingerprint(to_parsing_canonical_form(each), "CRC-64-AVRO")): each for each in schemas}
consumer = Consumer({"bootstrap.servers": "localhost:9092", "group.id": "me", "auto.offset.reset": "earliest"})
consumer.subscribe(["lineage.runs"])
seen = set()  # delivery is at least once: a repeated record has the same record_id
while True:
    message = consumer.poll(1)
    if message and not message.error():
        value = message.value()
        run = schemaless_reader(io.BytesIO(value[10:]), written[value[2:10]], schemas[-1])
        if run["record_id"] not in seen:
            seen.add(run["record_id"])
            print(run["run_id"], run["state"], run["duration_ms"], flush=True)
