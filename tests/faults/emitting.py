"""A service that emits numbered events, and writes each number to a file once the emitter has accepted it.

Another file limits how far it may go, so that a test can inject faults at the same event on any machine.
"""

import os
import sys
import time
from pathlib import Path

from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.kafka import kafka_transport


def main(address: str, topic: str, directory: str, end: str) -> None:
    """Continue after the last number in the file."""
    emitter = Emitter(kafka_transport({"bootstrap.servers": address}, topic, Path(directory, "spool")), "faults")
    limit, log = Path(directory, "limit"), Path(directory, "emitted")
    written = log.read_text().split() if log.exists() else []
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for number in range(int(written[-1]) + 1 if written else 0, int(end)):
        while number % 50 == 0 and number >= int(limit.read_text()):
            time.sleep(0.01)
        facet = {"_schemaURL": "urn:lineproof:test:number", "number": number}
        emitter.run("numbered", facets={"test_number": facet}).start()
        os.write(descriptor, f"{number}\n".encode())
    if not emitter.close(300):
        sys.exit("not everything was delivered")


if __name__ == "__main__":
    main(*sys.argv[1:])
