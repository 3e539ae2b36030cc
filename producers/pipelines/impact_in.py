"""The impact-in service: copies data about volunteers from external systems into the platform's tables."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from lineproof.producers.datasets import ColumnLineage
from lineproof.producers.facets import MorphismStep
from lineproof.producers.pipelines.apis import KEY_HEADER
from lineproof.producers.pipelines.data import PSEUDONYM, Dataset
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.pipelines.resources import BENEVITY_HOURS, GOODERA_EVENTS, WORKDAY_EVENTS
from lineproof.producers.pipelines.sample import ApiRecord
from lineproof.producers.pipelines.tables import BUDDY_EVENTS, BUDDY_SYSTEM_EVENTS
from lineproof.producers.run import Run
from lineproof.schemas.errors import LineproofError

STEPS = (MorphismStep("fetch", "source", "1:1"), MorphismStep("translate", "map", "1:1"))
TIMEOUT_S = 5

_OPENER = build_opener(ProxyHandler({}))  # the stubs run on this machine


class UnusableAnswer(LineproofError):
    """An external system answered with an error, or with an invalid page."""


@dataclass(frozen=True)
class Feed:
    """Copies a resource to a table: which records, and how a record becomes a row."""

    source: Dataset
    target: Dataset
    is_wanted: Callable[[ApiRecord], bool]
    translate: Callable[[ApiRecord], dict[str, Any]]
    columns: ColumnLineage


def benevity_sync(platform: Platform) -> None:
    """Hours that companies have approved in Benevity."""
    source = BENEVITY_HOURS
    columns: ColumnLineage = {
        "event_id": [source.column("id")],
        "company_id": [source.column("company")],
        "participant_id": [source.column("volunteer_email", PSEUDONYM)],
        "activity": [source.column("activity")],
        "hours": [source.column("hours")],
        "event_date": [source.column("date")],
    }
    feed = Feed(source, BUDDY_EVENTS, lambda record: record["status"] == "APPROVED", _benevity_row, columns)
    _sync(platform, "benevity-sync", feed)


def goodera_sync(platform: Platform) -> None:
    """Activities that took place, from Goodera."""
    source = GOODERA_EVENTS
    columns: ColumnLineage = {
        "event_id": [source.column("eventId")],
        "company_id": [source.column("organisation", "in lower case")],
        "participant_id": [source.column("participant.email", PSEUDONYM)],
        "activity": [source.column("eventType")],
        "hours": [source.column("minutes", "divided by 60")],
        "event_date": [source.column("on")],
    }
    feed = Feed(source, BUDDY_EVENTS, lambda record: not record["cancelled"], _goodera_row, columns)
    _sync(platform, "goodera-sync", feed)


def workday_sync(platform: Platform) -> None:
    """Final events of the buddy system, from Workday."""
    source = WORKDAY_EVENTS
    columns: ColumnLineage = {
        "event_id": [source.column("Reference_ID")],
        "company_id": [source.column("Company_Reference")],
        "participant_id": [source.column("Worker_Email", PSEUDONYM)],
        "event_type": [source.column("Event_Type")],
        "hours": [source.column("Duration_Hours", "text to number")],
        "event_date": [source.column("Event_Date")],
    }
    feed = Feed(source, BUDDY_SYSTEM_EVENTS, lambda record: not record["Draft"], _workday_row, columns)
    _sync(platform, "workday-sync", feed)


def _sync(platform: Platform, name: str, feed: Feed) -> None:
    with platform.run(name, [feed.source.as_input()], STEPS) as run:
        records = list(_fetch(platform, feed.source, run))
        platform.proof.read(feed.source, records)
        rows = _translate(feed, records, run)
        platform.write(feed.target, rows, columns=feed.columns)

        for column in feed.columns:
            run.lineage.path(column, "fetch", "translate")
        platform.proof.certify(
            {
                "no_negative_hours": all(row["hours"] >= 0 for row in rows),
                "no_address_is_kept": not any("@" in str(value) for row in rows for value in row.values()),
            }
        )


def _fetch(platform: Platform, resource: Dataset, run: Run) -> Iterator[ApiRecord]:
    with run.morphism("fetch") as step:
        page, pages = 0, 1
        while page < pages:
            page += 1
            answer = _get(f"{platform.address(resource)}?page={page}", platform.apis.key)
            pages = answer["pages"]
            step.input_rows += len(answer["data"])
            step.output_rows = step.input_rows
            run.progress(100 * page / pages, step.output_rows)
            yield from answer["data"]


def _get(url: str, key: str) -> dict[str, Any]:
    try:
        with _OPENER.open(Request(url, headers={KEY_HEADER: key}), timeout=TIMEOUT_S) as response:  # noqa: S310
            body = response.read().decode()
        page: dict[str, Any] = json.loads(body)
    except HTTPError as error:
        raise UnusableAnswer(f"GET {url} answered {error.code}: {error.read().decode()}", "Try again later.") from error
    except ValueError as error:
        raise UnusableAnswer(
            f"GET {url} returned invalid JSON that ends with {body[-80:]!r}.", "Try again later."
        ) from error
    return page


def _translate(feed: Feed, records: list[ApiRecord], run: Run) -> list[dict[str, Any]]:
    """The rows of all wanted records. An invalid record is counted as errored."""
    rows = []
    with run.morphism("translate") as step:
        for record in run.ledger.count(step.over(records)):
            try:
                if feed.is_wanted(record):
                    rows.append(feed.translate(record))
                else:
                    run.ledger.filter()
            except (KeyError, TypeError, ValueError):
                run.ledger.error()
                step.error_rows += 1
        step.output_rows = len(rows)
    return rows


def _benevity_row(record: ApiRecord) -> dict[str, Any]:
    return {
        "event_id": record["id"],
        "source": "benevity",
        "company_id": record["company"],
        "participant_id": pseudonym(record["volunteer_email"]),
        "activity": record["activity"],
        "hours": float(record["hours"]),
        "event_date": _day(record["date"]),
    }


def _goodera_row(record: ApiRecord) -> dict[str, Any]:
    return {
        "event_id": record["eventId"],
        "source": "goodera",
        "company_id": record["organisation"].lower(),
        "participant_id": pseudonym(record["participant"]["email"]),
        "activity": record["eventType"],
        "hours": record["minutes"] / 60,
        "event_date": _day(record["on"]),
    }


def _workday_row(record: ApiRecord) -> dict[str, Any]:
    return {
        "event_id": record["Reference_ID"],
        "company_id": record["Company_Reference"],
        "participant_id": pseudonym(record["Worker_Email"]),
        "event_type": record["Event_Type"],
        "hours": float(record["Duration_Hours"]),
        "event_date": _day(record["Event_Date"]),
    }


def pseudonym(email: str) -> str:
    """A stable id of a person that does not reveal the address."""
    return f"p-{sha256(email.lower().encode()).hexdigest()[:16]}"


def _day(text: str) -> str:
    """Check a date. Raises ValueError."""
    return date.fromisoformat(text).isoformat()
