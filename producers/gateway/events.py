"""One event of a request: whether it is one, what is wrong with it, and the record that it becomes.

An event that follows the specification is sealed in an envelope. An event with a defect is sent as it is, as plain
JSON: an envelope repeats run, job and time as a valid event has them.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import chain
from typing import Any

from lineproof.producers.gateway.refusals import not_an_event
from lineproof.schemas.defects import Defect
from lineproof.schemas.envelope import Envelope
from lineproof.schemas.openlineage import EVENT_TYPES, KINDS, InvalidEvent, follows_specification, parse_document
from lineproof.schemas.reasons import Reason

_LOCAL_TIME = re.compile(r"([1-9]\d{3}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(\.\d+)?", re.ASCII)
_ZONE = re.compile(r"[Zz]|[+-](0\d|1[0-7]):?[0-5]\d|[+-]18:?00", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MAX_NUMBER, _MAX_NAME = 1000, 50_000
"""Characters of a number and of a name: the limits of the job's parser."""


@dataclass(frozen=True)
class GatewayEvent:
    """An event that is accepted."""

    key: bytes
    value: bytes
    """The value of its record: an envelope, or the plain JSON."""
    namespaces: tuple[str, ...]
    """The namespaces that a key must be allowed to write to."""
    defects: tuple[Defect, ...]
    has_duplicate_keys: bool
    """Readers could disagree about its namespace."""


def read_event(payload: bytes, emitter_id: str) -> GatewayEvent:
    """Read one event. Raises RequestRefused if the job would make a dead letter of it."""
    document, ambiguous = _parse(payload)
    kind = _kind(document)
    if kind is None:
        raise not_an_event(Reason.NOT_AN_EVENT, "")
    entities = {name: document[name] for name in ("run", "job", "dataset") if isinstance(document.get(name), dict)}
    run_id = _text(entities.get("run", {}).get("runId"))
    job, dataset = entities.get("job", {}), entities.get("dataset", {})
    time = _text(document.get("eventTime"))
    _refuse_time(time)
    if kind == "RUN" and not run_id:
        raise not_an_event(Reason.BAD_RUN_ID, "run.runId")
    _refuse_nameless("dataset" if kind == "DATASET" else "job", dataset if kind == "DATASET" else job)
    normal_run_id = run_id.lower() if _UUID.fullmatch(run_id) else run_id
    namespaces = [_text(entity.get("namespace")) for entity in (job, dataset) if entity.get("namespace") is not None]
    defects = _defects(document, kind, run_id, time)
    if ambiguous and {id(found) for found in ambiguous} & {id(facets) for facets in _facets(document)}:
        defects.insert(0, Defect.DUPLICATE_JSON_KEY)
    envelope = None if ambiguous else _sealed(document, payload, emitter_id)
    return GatewayEvent(
        key=_key(kind, normal_run_id, dataset if kind == "DATASET" else job),
        value=envelope.encode() if envelope else payload,
        namespaces=tuple(namespaces),
        defects=tuple(defects),
        has_duplicate_keys=bool(ambiguous),
    )


def _sealed(document: dict[str, Any], payload: bytes, emitter_id: str) -> Envelope | None:
    """The envelope of an event that follows the specification.

    The sequence number is always 0: the gateway tells its clients which events it has not stored, and a number that was
    given to such an event would look like a loss.
    """
    try:
        if follows_specification(document):
            event = parse_document(document, payload)
            event.event_time.astimezone(timezone.utc)  # Python could not read an envelope with a later time
            return Envelope.seal(event, emitter_id, 0)
    except (InvalidEvent, ValueError, OverflowError):  # also names that no envelope can hold, and very deep nesting
        return None
    return None


def _parse(payload: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The document, and the objects in it that have the same key twice."""
    ambiguous: list[dict[str, Any]] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if any(len(name) > _MAX_NAME for name in found):
            raise ValueError(f"a name has more than {_MAX_NAME} characters")
        if len(found) != len(pairs):
            ambiguous.append(found)
        return found

    try:
        document = json.loads(
            payload.decode(),
            object_pairs_hook=members,
            parse_int=_integer,
            parse_float=_decimal,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise not_an_event(Reason.INVALID_UTF8, "", f"byte {error.start}") from error
    except ValueError as error:
        raise not_an_event(Reason.INVALID_JSON, "", str(error)) from error
    if not isinstance(document, dict):
        raise not_an_event(Reason.NOT_AN_EVENT, "", "it is not an object")
    return document, ambiguous


def _integer(text: str) -> int:
    return int(_bounded(text))


def _decimal(text: str) -> float:
    return float(_bounded(text))


def _bounded(text: str) -> str:
    if len(text) > _MAX_NUMBER:
        raise ValueError(f"a number has more than {_MAX_NUMBER} digits")
    return text


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _kind(document: dict[str, Any]) -> str | None:
    """As the job reads it: a member that is not an object counts as absent."""
    return next((kind for kind in KINDS if isinstance(document.get(kind.lower()), dict)), None)


def _text(value: Any) -> str:
    """A member as the job reads it: any value that is no text as its JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _key(kind: str, run_id: str, entity: dict[str, Any]) -> bytes:
    """The key of the record, as `lineproof.schemas.openlineage.Event` has it."""
    name = f"{_text(entity.get('namespace'))}/{_text(entity.get('name'))}"
    return (run_id if kind == "RUN" else f"{kind.lower()}:{name}").encode("utf-8", "replace")


def _refuse_time(text: str) -> None:
    if not text:
        raise not_an_event(Reason.MISSING_EVENT_TIME, "eventTime")
    match = _LOCAL_TIME.match(text)
    zone = text[match.end() :] if match else ""
    is_instant = match is not None and (not zone or _ZONE.fullmatch(zone) is not None)
    if match is None or not is_instant or not _is_date(f"{match[1]}T{match[2]}"):
        raise not_an_event(Reason.BAD_EVENT_TIME, "eventTime", f"{text[:40]!r}")


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _refuse_nameless(name: str, entity: dict[str, Any]) -> None:
    for member in ("namespace", "name"):
        if not _text(entity.get(member)):
            reason = Reason.MISSING_JOB if name == "job" else Reason.MISSING_DATASET
            raise not_an_event(reason, f"{name}.{member}")


def _facets(document: dict[str, Any]) -> Iterator[Any]:
    """The facets of the run, the job and the datasets."""
    lists = (document.get(role) for role in ("inputs", "outputs"))
    entities = [document.get(name) for name in ("run", "job", "dataset")]
    for entity in chain(entities, *(found for found in lists if isinstance(found, list))):
        if isinstance(entity, dict):
            yield entity.get("facets")


def _run_facets(document: dict[str, Any]) -> Iterable[Any]:
    run = document.get("run")
    facets = run.get("facets") if isinstance(run, dict) else None
    return facets.values() if isinstance(facets, dict) else ()


def _defects(document: dict[str, Any], kind: str, run_id: str, time: str) -> list[Defect]:
    """What is wrong with the event, as far as it can be seen without another pass over it."""
    lists = [document.get(role) for role in ("inputs", "outputs")]
    datasets = [dataset for found in lists if isinstance(found, list) for dataset in found]
    entities = [document.get(name) for name in ("run", "job", "dataset")]
    is_wrong_type = (
        any(entity is not None and not isinstance(entity, dict) for entity in entities)
        or any(found is not None and not isinstance(found, list) for found in lists)
        or any(not isinstance(dataset, dict) for dataset in datasets)
        or any(facet is not None and not isinstance(facet, dict) for facet in _run_facets(document))
    )
    is_nameless = any(
        isinstance(dataset, dict) and not (_text(dataset.get("namespace")) and _text(dataset.get("name")))
        for dataset in datasets
    )
    stated_type = document.get("eventType")
    found = {
        Defect.WRONG_TYPE: is_wrong_type,
        Defect.NAMELESS_DATASET: is_nameless,
        Defect.MISSING_SCHEMA_URL: not _text(document.get("schemaURL")),
        Defect.MISSING_PRODUCER: not _text(document.get("producer")),
        Defect.RUN_ID_NOT_UUID: bool(run_id) and not _UUID.fullmatch(run_id),
        Defect.EVENT_TIME_WITHOUT_ZONE: bool(_LOCAL_TIME.fullmatch(time)),
        Defect.EVENT_TIME_IN_FUTURE: _is_in_future(time),
        Defect.UNKNOWN_EVENT_TYPE: kind == "RUN" and stated_type is not None and stated_type not in EVENT_TYPES,
    }
    return [defect for defect, is_there in found.items() if is_there]


def _is_in_future(time: str) -> bool:
    """More than a day ahead, to the day: the job compares with the time of the record."""
    tomorrow = datetime.now(timezone.utc) + timedelta(days=2)
    return time[:10] > tomorrow.date().isoformat()
