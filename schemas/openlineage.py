"""OpenLineage events: the three kinds, how to tell them apart, and validation against the specification."""

import json
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

import jsonschema_rs

from lineproof.schemas.errors import LineproofError

EVENT_TYPES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER")
KINDS = ("RUN", "DATASET", "JOB")

_SCHEMA: dict[str, Any] = json.loads(files("lineproof.schemas").joinpath("openlineage.json").read_text())
_VALIDATORS = {
    kind: jsonschema_rs.validator_for({**_SCHEMA, "$ref": f"#/$defs/{kind}"}, validate_formats=True) for kind in KINDS
}


class InvalidEvent(LineproofError):
    """The event is not valid by the OpenLineage specification."""


@dataclass(frozen=True)
class Event:
    """A validated event: its unchanged bytes, and the fields that the envelope and the Kafka key need."""

    payload: bytes
    kind: str
    event_type: str | None
    event_time: datetime
    run_id: str | None
    job_namespace: str | None
    job_name: str | None
    dataset_namespace: str | None
    dataset_name: str | None
    producer: str

    @property
    def key(self) -> bytes:
        """The Kafka key. All events of one run, one job or one dataset go to the same partition."""
        if self.kind == "RUN":
            return str(self.run_id).encode()
        if self.kind == "DATASET":
            return f"dataset:{self.dataset_namespace}/{self.dataset_name}".encode()
        return f"job:{self.job_namespace}/{self.job_name}".encode()


def kind_of(document: dict[str, Any]) -> str | None:
    """The kind of an event, by the members it has: `run` comes before `dataset`, `dataset` before `job`."""
    return next((kind for kind in KINDS if kind.lower() in document), None)


def follows_specification(document: dict[str, Any]) -> bool:
    """Whether a document is valid by the specification. What it costs does not depend on the number of faults."""
    kind = kind_of(document)
    return kind is not None and bool(_VALIDATORS[kind].is_valid(document))


def parse(payload: bytes) -> Event:
    """Validate the bytes of an event against the specification."""
    try:
        document = json.loads(payload, object_pairs_hook=_refuse_duplicate_keys)
    except (ValueError, RecursionError) as error:
        raise InvalidEvent(f"Not a JSON document: {error}.", "Correct the JSON.") from error
    return parse_document(document, payload)


def parse_document(document: Any, payload: bytes) -> Event:
    """Validate an event that is already parsed. The payload must be the same document as bytes."""
    kind = kind_of(document) if isinstance(document, dict) else None
    if kind is None:
        raise InvalidEvent(
            "Not an OpenLineage event: it has neither a run, nor a dataset, nor a job.",
            "Publish run, dataset or job events only.",
        )
    if not follows_specification(document):
        problems = [
            f"{'.'.join(map(str, problem.instance_path)) or 'the event'}: {problem.message}"
            for problem in _VALIDATORS[kind].iter_errors(document)
        ]
        raise InvalidEvent(
            f"Not a valid OpenLineage {kind.lower()} event: {'; '.join(problems[:3])}.",
            "Compare the event with the OpenLineage specification 2-0-2.",
        )
    job, dataset = document.get("job", {}), document.get("dataset", {})
    run_id = document["run"]["runId"].lower() if kind == "RUN" else None
    event = Event(
        payload=payload,
        kind=kind,
        event_type=document.get("eventType") if kind == "RUN" else None,
        event_time=_checked_instant(document["eventTime"]),
        run_id=run_id,
        job_namespace=job.get("namespace"),
        job_name=job.get("name"),
        dataset_namespace=dataset.get("namespace"),
        dataset_name=dataset.get("name"),
        producer=document["producer"],
    )
    _refuse_lone_surrogates(event)
    return event


def parse_instant(text: str) -> datetime:
    """Parse an RFC 3339 time, cut to microseconds as Spark does. Python 3.10 parses neither Z nor nanoseconds."""
    day_and_time, zone = (text[:-1], "+00:00") if text[-1] in "zZ" else (text[:-6], text[-6:])
    seconds, _, fraction = day_and_time.partition(".")
    return datetime.fromisoformat(f"{seconds}.{fraction[:6]:0<6}{zone}")


def _checked_instant(text: str) -> datetime:
    """RFC 3339 allows leap seconds and the year 0, which the tables cannot hold."""
    try:
        return parse_instant(text)
    except ValueError as error:
        raise InvalidEvent(
            f"Not a valid OpenLineage event: eventTime: {text} is not a point in time ({error}).",
            "Use seconds from 0 to 59 and years from 1 to 9999.",
        ) from error


def _refuse_lone_surrogates(event: Event) -> None:
    """JSON can escape half of a surrogate pair, but UTF-8 cannot encode it: no envelope could hold such a name."""
    for member in ("producer", "job_namespace", "job_name", "dataset_namespace", "dataset_name"):
        try:
            (getattr(event, member) or "").encode()
        except UnicodeEncodeError as error:
            raise InvalidEvent(
                f"Not a valid OpenLineage event: {member} has half of a surrogate pair.", "Use complete characters."
            ) from error


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("an object has the same key twice")
    return document
