"""What the job must make of the bytes of a record, by its documentation: a dead letter, or an event with defects.

Any bytes can be read; only plain JSON, not envelopes. The rules are those of `docs/defects.md`, `schemas/defects.py`,
`schemas/reasons.py` and `docs/reference/tables.md`, and nothing of the job is called. Members that the tables need as
objects or lists are `_Typed`. Any value can stand for a text: then its JSON is the text, with fractions as Java writes
them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from lineproof.schemas.defects import Defect
from lineproof.schemas.envelope import event_id
from lineproof.schemas.limits import DEFAULT_LIMITS
from lineproof.schemas.reasons import Reason
from tests.model.events import UUID, Event, Row
from tests.model.json_values import (
    DEEPEST,
    Members,
    deep_recursion,
    depth,
    json_text,
    parsed,
    text_of,
    without_equal_keys,
)
from tests.model.values import boolean, count, instant, run_id, zone

TYPES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER")
LEDGER_COUNTS = ("inputRecordCount", "processedCount", "filteredCount", "erroredCount")
CERTIFICATE_TEXTS = (
    *("certificateId", "algorithm", "sourceStateHash", "targetStateHash", "contractVersion", "timestamp", "runId"),
    *("previousHash", "chainHash"),
)


@dataclass(frozen=True)
class Reading:
    """What a record is: a `reason` why it is no event, or the `row` of `lineage_events` and the event for the model."""

    event_id: str
    reason: str | None = None
    row: Row = field(default_factory=dict)
    event: Event | None = None


def read(value: bytes, timestamp: datetime) -> Reading:
    """Read the value of a record with this Kafka timestamp."""
    if not value.startswith(b"{"):
        return Reading("", (Reason.UNKNOWN_FRAMING if value else Reason.EMPTY_VALUE).value)
    plain_id = event_id(value)
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return Reading(plain_id, Reason.INVALID_UTF8.value)
    if text.count("[") + text.count("{") > DEEPEST and depth(text) > DEEPEST:
        return Reading(plain_id, Reason.JSON_TOO_DEEP.value)
    with deep_recursion():
        try:
            document = parsed(text)
        except ValueError:
            return Reading(plain_id, Reason.INVALID_JSON.value)
        return _Document(value, text, document, timestamp).reading()


def event_id_of(value: bytes, timestamp: datetime, defects: frozenset[Defect]) -> str:
    """The id of an event. One that is in the future for its record is an event of its own."""
    identifier = event_id(value)
    if Defect.EVENT_TIME_IN_FUTURE not in defects:
        return identifier
    micros = (timestamp - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)
    return event_id(f"{identifier}/{Defect.EVENT_TIME_IN_FUTURE.value}/{micros}".encode())


class _Typed:
    """Reads members of objects by their type. What has another type is read as if it were absent."""

    def __init__(self) -> None:
        self.has_wrong_type = False
        self.has_duplicates = False

    def an_object(self, value: Any) -> Row | None:
        if value is None or isinstance(value, Members):
            return None if value is None else dict(value)
        self.has_wrong_type = True
        return None

    def a_list(self, value: Any) -> list[Any]:
        if value is None or (isinstance(value, list) and not isinstance(value, Members)):
            return value or []
        self.has_wrong_type = True
        return []

    def facets(self, value: Any) -> Row:
        """The facets of a run, a job or a dataset."""
        found = self.an_object(value)
        self.has_duplicates |= found is not None and len(found) < len(value)
        return found or {}

    def objects(self, value: Any) -> list[Row | None]:
        """The elements that are objects, or null."""
        elements = [(element, self.an_object(element)) for element in self.a_list(value)]
        return [found for element, found in elements if found is not None or element is None]


class _Dataset(NamedTuple):
    namespace: str | None
    name: str | None
    row_count: str | None
    size: str | None
    facets: Row

    @property
    def is_nameless(self) -> bool:
        return not self.namespace or not self.name

    def row(self) -> Row:
        counts = {"row_count": count(self.row_count), "size": count(self.size)}
        return {"namespace": self.namespace, "name": self.name, **counts}


class _Document:
    """A parsed event. Its equal keys are dropped first, if it has any among facets."""

    def __init__(self, value: bytes, text: str, document: Members, timestamp: datetime) -> None:
        self._value, self._text, self._timestamp = value, text, timestamp
        typed = self._read(document)
        if typed.has_duplicates:
            document = without_equal_keys(document)
            self._text = json_text(document, escapes_surrogates=False)
            self._read(document)
        self._typed = typed

    def _read(self, document: Members) -> _Typed:
        typed = _Typed()
        event = dict(document)
        self._event_time, self._event_type = text_of(event.get("eventTime")), text_of(event.get("eventType"))
        self._producer, self._schema_url = text_of(event.get("producer")), text_of(event.get("schemaURL"))
        run = typed.an_object(event.get("run"))
        self._has_run = run is not None
        self._run_id = run_id(text_of((run or {}).get("runId")))
        facets = typed.facets((run or {}).get("facets"))
        self._run_facets = {
            name: found for name, facet in facets.items() if (found := typed.an_object(facet)) is not None
        }
        self._job, self._job_facets = self._entity(typed, event.get("job"))
        self._dataset, self._dataset_facets = self._entity(typed, event.get("dataset"))
        self._datasets = {role: self._of_role(typed, role, event.get(f"{role}s")) for role in ("input", "output")}
        return typed

    @staticmethod
    def _entity(typed: _Typed, value: Any) -> tuple[tuple[str | None, str | None] | None, Row]:
        found = typed.an_object(value)
        name = None if found is None else (text_of(found.get("namespace")), text_of(found.get("name")))
        return name, typed.facets((found or {}).get("facets"))

    @staticmethod
    def _of_role(typed: _Typed, role: str, value: Any) -> list[_Dataset]:
        datasets = []
        for found in typed.objects(value):
            dataset = found or {}
            facets = typed.facets(dataset.get("facets"))
            of_role = typed.an_object(dataset.get(f"{role}Facets")) or {}
            own = typed.an_object(of_role.get(f"{role}Statistics")) or {}
            other = _object(_first(facets.get(f"{role}Statistics"), facets.get("stats")))
            counts = _first(own.get("rowCount"), other.get("rowCount"))
            sizes = _first(own.get("size"), other.get("size"), other.get("bytes"))
            name = text_of(dataset.get("namespace")), text_of(dataset.get("name"))
            datasets.append(_Dataset(*name, text_of(counts), text_of(sizes), facets))
        return datasets

    def reading(self) -> Reading:
        """The reading of the record."""
        if reason := self._reason():
            return Reading(event_id(self._value), reason.value)
        defects = self._defects()
        time = self._timestamp if Defect.EVENT_TIME_IN_FUTURE in defects else instant(self._event_time)
        identifier = event_id_of(self._value, self._timestamp, defects)
        row = {
            "event_id": identifier,
            "event_time": time,
            "kind": self._kind,
            "event_type": self._known_type(),
            "run_id": self._run_id,
            **dict(zip(("job_namespace", "job_name"), self._job or (None, None), strict=True)),
            **dict(zip(("dataset_namespace", "dataset_name"), self._dataset or (None, None), strict=True)),
            "inputs": [dataset.row() for dataset in self._kept("input")],
            "outputs": [dataset.row() for dataset in self._kept("output")],
            "producer": self._producer or None,
            "schema_url": self._schema_url or None,
            "error_message": self._error_message(),
            "defects": sorted(defect.value for defect in defects),
            "event": self._text,
        }
        assert time
        return Reading(identifier, None, row, Event(time, identifier, self._well_formed(row), None))

    @property
    def _kind(self) -> str | None:
        return "RUN" if self._has_run else "DATASET" if self._dataset else "JOB" if self._job else None

    def _reason(self) -> Reason | None:
        if not self._kind:
            return Reason.NOT_AN_EVENT
        if not self._event_time:
            return Reason.MISSING_EVENT_TIME
        if instant(self._event_time) is None:
            return Reason.BAD_EVENT_TIME
        if self._kind == "RUN" and not self._run_id:
            return Reason.BAD_RUN_ID
        if self._kind != "DATASET" and not all(self._job or (None,)):
            return Reason.MISSING_JOB
        if self._kind == "DATASET" and not all(self._dataset or (None,)):
            return Reason.MISSING_DATASET
        return None

    def _known_type(self) -> str | None:
        if self._kind != "RUN":
            return None
        return self._event_type if self._event_type in (*TYPES, None) else "OTHER"

    def _defects(self) -> frozenset[Defect]:
        time = instant(self._event_time)
        certified = text_of((self._certificate() or {}).get("runId"))
        found = {
            Defect.DUPLICATE_JSON_KEY: self._typed.has_duplicates,
            Defect.WRONG_TYPE: self._typed.has_wrong_type,
            Defect.MISSING_SCHEMA_URL: not self._schema_url,
            Defect.MISSING_PRODUCER: not self._producer,
            Defect.RUN_ID_NOT_UUID: bool(self._run_id) and not UUID.fullmatch(self._run_id or ""),
            Defect.EVENT_TIME_WITHOUT_ZONE: not zone(self._event_time or ""),
            Defect.EVENT_TIME_IN_FUTURE: time is not None and time > self._timestamp + timedelta(days=1),
            Defect.UNKNOWN_EVENT_TYPE: self._known_type() != self._event_type and self._kind == "RUN",
            Defect.BAD_COUNT: any(text is not None and count(text) is None for text in self._counts()),
            Defect.NAMELESS_DATASET: any(dataset.is_nameless for dataset in self._all_datasets()),
            Defect.TOO_MANY_DATASETS: max(map(len, self._datasets.values())) > DEFAULT_LIMITS.datasets,
            Defect.TOO_MANY_FACETS: max(map(len, self._all_facets())) > DEFAULT_LIMITS.facets,
            Defect.TOO_MANY_COLUMNS: max(map(_columns, self._facets("columnLineage"))) > DEFAULT_LIMITS.columns,
            Defect.TOO_MANY_SYMLINKS: max(map(_symlinks, self._facets("symlinks"))) > DEFAULT_LIMITS.symlinks,
            Defect.FOREIGN_CERTIFICATE: certified is not None and certified.lower() != (self._run_id or "").lower(),
        }
        return frozenset(defect for defect, is_there in found.items() if is_there)

    def _all_datasets(self) -> list[_Dataset]:
        return [dataset for datasets in self._datasets.values() for dataset in datasets]

    def _all_facets(self) -> list[Row]:
        return [self._job_facets, self._dataset_facets, *(dataset.facets for dataset in self._all_datasets())]

    def _facets(self, name: str) -> list[Any]:
        return [facets.get(name) for facets in self._all_facets()]

    def _kept(self, role: str) -> list[_Dataset]:
        """The datasets with a name; of too many, the first ones by name."""
        named = [dataset for dataset in self._datasets[role] if not dataset.is_nameless]
        if len(self._datasets[role]) > DEFAULT_LIMITS.datasets:
            return sorted(named, key=lambda dataset: dataset[:2])[: DEFAULT_LIMITS.datasets]
        return named

    def _counts(self) -> Iterator[str | None]:
        """All counts that are read, as texts."""
        yield self._stated_duration()
        yield from (text_of((self._ledger() or {}).get(name)) for name in LEDGER_COUNTS)
        for role in ("input", "output"):
            for dataset in self._kept(role):
                yield from (dataset.row_count, dataset.size)

    def _stated_duration(self) -> str | None:
        return text_of(self._run_facets.get("timing", {}).get("durationMs"))

    def _error_message(self) -> str | None:
        return text_of(_first(*(self._run_facets.get(name, {}).get("message") for name in ("errorMessage", "error"))))

    def _ledger(self) -> Row | None:
        return self._cdme_facet("accountingLedger")

    def _certificate(self) -> Row | None:
        return self._cdme_facet("fidelityCertificate")

    def _cdme_facet(self, name: str) -> Row | None:
        """The facet, whose key has an underscore or, in the older generation, a dot."""
        return next(
            (self._run_facets[key] for key in (f"cdme_{name}", f"cdme.{name}") if key in self._run_facets), None
        )

    def _well_formed(self, row: Row) -> Row:
        """The event as the other models read it, with what counts of it."""
        document = {
            "eventTime": self._event_time,
            "producer": row["producer"],
            **({"eventType": row["event_type"]} if row["event_type"] else {}),
            **({"job": dict(zip(("namespace", "name"), self._job, strict=True))} if self._job else {}),
            **({"run": {"runId": self._run_id, "facets": self._known_run_facets()}} if self._has_run else {}),
        }
        for role in ("input", "output"):
            document[f"{role}s"] = [_with_statistics(role, dataset) for dataset in row[f"{role}s"]]
        return document

    def _known_run_facets(self) -> Row:
        nominal = self._run_facets.get("nominalTime", {})
        times = {name: instant(text_of(nominal.get(name))) for name in ("nominalStartTime", "nominalEndTime")}
        parent = self._run_facets.get("parent", {})
        message, duration = self._error_message(), count(self._stated_duration())
        facets = _present(
            errorMessage=None if message is None else {"message": message},
            timing=None if duration is None else {"durationMs": duration},
            nominalTime=_present(**{name: time and time.isoformat() for name, time in times.items()}),
            parent=_present(**_parent(parent), root=_parent(_object(parent.get("root")))),
        )
        if (ledger := self._ledger()) is not None:
            counts = {name: count(text_of(ledger.get(name))) for name in LEDGER_COUNTS}
            facets["cdme_accountingLedger"] = _present(**counts, balanced=boolean(text_of(ledger.get("balanced"))))
        if (certificate := self._certificate()) is not None:
            facets["cdme_fidelityCertificate"] = self._completed(certificate)
        return facets

    def _completed(self, certificate: Row) -> Row:
        """The certificate as a producer seals it; without its hash if a member is missing."""
        texts = {name: text_of(certificate.get(name)) for name in CERTIFICATE_TEXTS}
        invariants = {name: boolean(text_of(passed)) for name, passed in _object(certificate.get("invariants")).items()}
        thresholds = {name: text_of(value) for name, value in _object(certificate.get("materialityThresholds")).items()}
        members = {**texts, "invariants": invariants, "materialityThresholds": thresholds}
        stated = (*texts.values(), *invariants.values(), *thresholds.values())
        are_objects = all(
            isinstance(certificate.get(name), Members) for name in ("invariants", "materialityThresholds")
        )
        if None not in stated and are_objects:
            return members
        known = {name: text or "" for name, text in texts.items()}
        empty: Row = {"invariants": {}, "materialityThresholds": {}}
        return {**known, **empty, "runId": _first(texts["runId"], self._run_id), "chainHash": ""}


def _object(value: Any) -> Row:
    """The members of an object inside a facet; none if it is something else."""
    return dict(value) if isinstance(value, Members) else {}


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _present(**members: Any) -> Row:
    return {name: member for name, member in members.items() if member is not None and member != {}}


def _parent(facet: Row) -> Row:
    """The run and the job of a parent, if it has a run id."""
    identifier = run_id(text_of(_object(facet.get("run")).get("runId")))
    job = _object(facet.get("job"))
    names = {name: text_of(job.get(name)) for name in ("namespace", "name")}
    return {} if identifier is None else {"run": {"runId": identifier}, "job": names}


def _with_statistics(role: str, dataset: Row) -> Row:
    counts = _present(rowCount=dataset["row_count"], size=dataset["size"])
    name = {"namespace": dataset["namespace"], "name": dataset["name"]}
    return {**name, f"{role}Facets": {f"{role}Statistics": counts}}


def _columns(value: Any) -> int:
    """The source columns of a columnLineage facet: its members `field` and `input`, at any depth."""
    if isinstance(value, Members):
        return sum((name in ("field", "input")) + _columns(member) for name, member in value)
    return sum(map(_columns, value)) if isinstance(value, list) else 0


def _symlinks(value: Any) -> int:
    """The other names in a symlinks facet."""
    identifiers = _object(value).get("identifiers")
    return len(identifiers) if isinstance(identifiers, list) and not isinstance(identifiers, Members) else 0
