"""Send dead letters again, with their own bytes or with a patch."""

from collections.abc import Iterator, Sequence

from lineproof.schemas.headers import REDRIVEN_FROM
from lineproof.schemas.record import Record
from lineproof.serving.dead_letters import DeadLetter, DeadLetters
from lineproof.topics.cluster import KafkaCluster

LETTERS_PER_BATCH = 1000
"""How many dead letters are in memory at a time, with their bytes."""


def redriven_record(letter: DeadLetter, patch: bytes | None = None) -> Record:
    """The record that replaces a dead letter: the same key, headers and bytes, or the patch instead of the bytes."""
    headers = [(header["key"], header["value"]) for header in letter.headers or () if header["key"] != REDRIVEN_FROM]
    value = letter.value if patch is None else patch
    return Record(letter.key, value, [*headers, (REDRIVEN_FROM, letter.record.encode())])


def redrive(
    letters: DeadLetters, records: Sequence[str], cluster: KafkaCluster, topic: str, patch: bytes | None = None
) -> Iterator[int]:
    """Send these dead letters to the topic again, in batches; yields how many were sent so far."""
    for begin in range(0, len(records), LETTERS_PER_BATCH):
        batch = letters.named(records[begin : begin + LETTERS_PER_BATCH])
        cluster.send(topic, (redriven_record(letter, patch) for letter in batch))
        yield begin + len(batch)
