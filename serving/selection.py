"""Which part of the archive: by time, offsets, job, run or dataset. What is said holds all together.

By job, run and dataset whole runs are selected, with all their events: half a run would be another one.
"""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from lineproof.schemas.durations import moment
from lineproof.schemas.errors import LineproofError

_OFFSETS = re.compile(r"(?P<topic>[\w.#-]+)/(?P<partition>\d+)/(?P<first>\d+)(?P<open>-(?P<last>\d+)?)?", re.ASCII)

_NAMED = "{0}namespace || '/' || {0}name = ?"
_IN_LIST = "list_contains([one.namespace || '/' || one.name FOR one IN {0}], ?)"
_OF_JOB = _NAMED.format("job_")
_OF_DATASET = f"({_NAMED.format('dataset_')} OR {_IN_LIST.format('inputs')} OR {_IN_LIST.format('outputs')})"
_OF_RUNS_WITH = """(
    event_id IN (SELECT event_id FROM lineage_events WHERE {0})
    OR run_id IN (SELECT run_id FROM lineage_events WHERE run_id IS NOT NULL AND {0})
)"""


class NoSelection(LineproofError):
    """A text that selects nothing, or cannot."""

    exit_code = 2


@dataclass(frozen=True)
class Selection:
    """What the user said, in the user's words."""

    since: str | None = None
    until: str | None = None
    job: str | None = None
    run: str | None = None
    dataset: str | None = None
    offsets: tuple[str, ...] = ()

    @property
    def is_by_content(self) -> bool:
        """Whether the archive alone cannot tell which records are meant."""
        return bool(self.job or self.run or self.dataset)

    def said(self) -> dict[str, Any]:
        """What was said, by option."""
        return {name: list(value) if name == "offsets" else value for name, value in asdict(self).items() if value}

    def where(self, now: datetime | None = None) -> str:
        """The condition on rows called `archive`, by time and offsets, in words that DuckDB and Spark understand."""
        conditions = [
            *([f"archive.timestamp >= {_time(self.since, now)}"] if self.since else []),
            *([f"archive.timestamp < {_time(self.until, now)}"] if self.until else []),
            *([any_of(map(_in_range, self.offsets))] if self.offsets else []),
        ]
        return " AND ".join(conditions) or "true"

    def where_content(self) -> tuple[str, list[str]]:
        """The condition on rows of `records`, by job, run and dataset, and its parameters."""
        conditions, parameters = ["event_id IS NOT NULL"], []
        if self.run:
            conditions.append("run_id = ?")
            parameters.append(self.run.lower())
        for name, condition in ((self.job, _OF_JOB), (self.dataset, _OF_DATASET)):
            if name:
                conditions.append(_OF_RUNS_WITH.format(condition))
                parameters += [name] * condition.count("?") * 2
        return " AND ".join(conditions), parameters

    def check(self) -> None:
        """Refuse names that cannot be any."""
        for option, name in (("--job", self.job), ("--dataset", self.dataset)):
            if name and "/" not in name:
                raise NoSelection(f"{option} {name} has no namespace.", "Write it as NAMESPACE/NAME.")
        self.where()


def any_of(conditions: Iterable[str]) -> str:
    """One of them holds."""
    return f"({' OR '.join(f'({one})' for one in conditions)})"


def in_partition(topic: str, partition: int, first: int, last: int | None) -> str:
    """The condition on rows called `archive` that they lie in this range."""
    upto = "" if last is None else f" AND archive.offset <= {last}"
    return f"archive.topic = '{topic}' AND archive.partition = {partition} AND archive.offset >= {first}{upto}"


def _in_range(text: str) -> str:
    match = _OFFSETS.fullmatch(text)
    if match is None:
        raise NoSelection(
            f"--offsets {text} names no records.",
            "Write TOPIC/PARTITION/FIRST-LAST, TOPIC/PARTITION/FIRST- or TOPIC/PARTITION/OFFSET.",
        )
    first = int(match["first"])
    last = (int(match["last"]) if match["last"] else None) if match["open"] else first
    return in_partition(match["topic"], int(match["partition"]), first, last)


def _time(text: str, now: datetime | None) -> str:
    return f"TIMESTAMP '{moment(text, now).astimezone(timezone.utc):%Y-%m-%d %H:%M:%S.%f}+00:00'"
