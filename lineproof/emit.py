"""`lineproof emit`: events from files onto the topic."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from lineproof.kafka import Kafka, client_options, registry_of
from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.openlineage import InvalidEvent
from lineproof.settings import Settings


class UnreadableFile(LineproofError):
    """The file is not there or not text."""

    exit_code = 2


class NotDelivered(LineproofError):
    """The broker did not take all events in time."""


def emit_files(
    files: list[str], settings: Settings, complain: Callable[[str], None], report: Callable[[int], None]
) -> tuple[int, int]:
    """Publish every valid event of the files; return how many were sent and how many refused."""
    documents = {name: read_text(name) for name in files}
    options = client_options(settings)
    Kafka(options).require_topics(settings.topics.events)
    spool, registry = settings.spool_path / "kafka", registry_of(settings)
    emitter = Emitter(kafka_transport(options, settings.topics.events, spool, registry=registry), namespace="")
    sent = refused = 0
    for name, text in documents.items():
        for line, document in split(text):
            try:
                emitter.publish_json(document.encode())
                sent += 1
                if sent % 1000 == 0:
                    report(sent)
            except InvalidEvent as error:
                complain(f"{name}:{line}: {error.what}")
                refused += 1
    if not emitter.flush(60):
        raise NotDelivered(
            f"{emitter.stats.delivery.pending} events were not delivered to {settings.topics.events} in time.",
            f"Check the broker. They wait in {settings.spool_path} and are sent by the next `lineproof emit`.",
        )
    return sent, refused


def split(text: str) -> Iterator[tuple[int, str]]:
    """The events of a file, each with its line: one document, an array of them, or one a line.

    Events are cut out, not written anew, so that their bytes stay what they were. What is no JSON is handed
    on to its line's end, to be refused by name.
    """
    decoder = json.JSONDecoder()
    position, line, counted = 0, 1, 0
    while (position := _skip(text, position, " \t\r\n\ufeff[],")) < len(text):
        line += text.count("\n", counted, position)
        counted = position
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            newline = text.find("\n", position)
            end = len(text) if newline < 0 else newline
        yield line, text[position:end].rstrip("\r")
        position = end


def _skip(text: str, position: int, characters: str) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


def read_text(name: str) -> str:
    """A file, or stdin for `-`."""
    try:
        return sys.stdin.buffer.read().decode() if name == "-" else Path(name).read_bytes().decode()
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror}.", "Name a file that is there.") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{name} is not UTF-8: {error.reason}.", "Name a file of JSON.") from error
