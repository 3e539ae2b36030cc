"""Sample data of the external systems, about fictional volunteers. It is the same in every run."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

ApiRecord = Mapping[str, Any]

EPOCH = "2026-H1"
"""The half year of the sample data."""

COMPANIES = ("fjordline", "nordwind", "sonnentau", "tideworks", "vallebo")
PARTICIPANTS = 60
MAIL_DOMAIN = "participants.example.org"

VALUATION_WEIGHTS: tuple[dict[str, Any], ...] = (
    {"event_type": "mentoring", "value_per_hour": 62.0, "cost_per_hour": 21.0, "deadweight": 0.2, "version": "2026.1"},
    {
        "event_type": "language_course",
        "value_per_hour": 48.5,
        "cost_per_hour": 17.5,
        "deadweight": 0.25,
        "version": "2026.1",
    },
    {
        "event_type": "job_training",
        "value_per_hour": 81.0,
        "cost_per_hour": 26.0,
        "deadweight": 0.3,
        "version": "2026.1",
    },
    {
        "event_type": "social_meeting",
        "value_per_hour": 23.0,
        "cost_per_hour": 9.0,
        "deadweight": 0.1,
        "version": "2026.1",
    },
)
_EVENT_TYPES = (*(str(weights["event_type"]) for weights in VALUATION_WEIGHTS), "town_hall")  # the last has no value
_ACTIVITIES = ("mentoring", "homework_help", "food_bank", "tree_planting")


@dataclass(frozen=True)
class Sample:
    """The records of each external system."""

    benevity: list[ApiRecord]
    goodera: list[ApiRecord]
    workday: list[ApiRecord]
    feedback: list[ApiRecord]


@cache
def recorded_answers() -> list[dict[str, Any]]:
    """Feedback texts, and the recorded answers of the language models."""
    answers: list[dict[str, Any]] = json.loads(files(__package__).joinpath("recorded_answers.json").read_text("utf-8"))
    return answers


@cache
def sample() -> Sample:
    """All sample data."""
    chance = random.Random(2026)  # noqa: S311
    return Sample(
        benevity=[_volunteer_hours(chance, number) for number in range(1, 91)],
        goodera=[_volunteering(chance, number) for number in range(1, 61)],
        workday=[_worker_event(chance, number) for number in range(1, 121)],
        feedback=[_feedback(chance, number) for number in range(1, 101)],
    )


def _volunteer_hours(chance: random.Random, number: int) -> ApiRecord:
    return {
        "id": f"BV-{number:04}",
        "company": chance.choice(COMPANIES),
        "volunteer_email": _email(chance),
        "activity": chance.choice(_ACTIVITIES),
        "hours": chance.choice((0, 1, 1.5, 2, 3, 4, 8)),
        "date": _day(chance),
        "status": "PENDING" if chance.random() < 0.1 else "APPROVED",
    }


def _volunteering(chance: random.Random, number: int) -> ApiRecord:
    return {
        "eventId": f"GD-{number:04}",
        "organisation": chance.choice(COMPANIES).upper(),
        "participant": {"email": _email(chance)},
        "eventType": chance.choice(_ACTIVITIES),
        "minutes": chance.choice((30, 45, 60, 90, 120, 240)),
        "on": _day(chance),
        "cancelled": chance.random() < 0.1,
    }


def _worker_event(chance: random.Random, number: int) -> ApiRecord:
    return {
        "Reference_ID": f"WD-{number:04}",
        "Company_Reference": chance.choice(COMPANIES),
        "Worker_Email": _email(chance),
        "Event_Type": chance.choice(_EVENT_TYPES),
        "Duration_Hours": f"{chance.choice((0.5, 1, 1.5, 2)):.2f}",
        "Event_Date": _day(chance),
        "Draft": chance.random() < 0.08,
    }


def _feedback(chance: random.Random, number: int) -> ApiRecord:
    answered, email = chance.choice(recorded_answers()), _email(chance)
    return {
        "id": f"FB-{number:04}",
        "company": chance.choice(COMPANIES),
        "email": email,
        "text": "" if chance.random() < 0.06 else answered["prompt"].replace("[email]", email),
        "rating": answered["rating"],
        "submitted": _day(chance),
    }


def quarter(day: str) -> str:
    """The quarter of a date: 2026-Q1 for 2026-02-03."""
    return f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"


def _email(chance: random.Random) -> str:
    return f"participant{chance.randrange(PARTICIPANTS):02}@{MAIL_DOMAIN}"


def _day(chance: random.Random) -> str:
    return (date(2026, 1, 1) + timedelta(days=chance.randrange(181))).isoformat()
