"""Select archived records by time, offsets, job, run or dataset. Filters are combined with AND.

Filters by job, run and dataset select whole runs, with all their events: half of a run would look like another run.
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
_IN_LIST = "list_contains([dataset.namespace || '/' || dataset.name FOR dataset IN {0}], ?)"
_JOB = _NAMED.format("job_")
_DATASET = f"({_NAMED.format('dataset_')} OR {_IN_LIST.format('inputs')} OR {_IN_LIST.format('outputs')})"
_RUNS_WITH = """(
    event_id IN (SELECT event_id FROM lineage_events WHERE {0})
    OR run_id IN (SELECT run_id FROM lineage_events WHERE run_id IS NOT NULL AND {0})
)"""


class InvalidSelection(LineproofError):
    """A filter is not valid, or cannot be applied to these tables."""

    exit_code = 2


@dataclass(frozen=True)
class Selection:
    """The filters, as the user wrote them."""

    since: str | None = None
    until: str | None = None
    job: str | None = None
    run: str | None = None
    dataset: str | None = None
    offsets: tuple[str, ...] = ()

    @property
    def is_by_content(self) -> bool:
        """Whether other tables than the archive are needed to find the records."""
        return bool(self.job or self.run or self.dataset)

    def options(self) -> dict[str, Any]:
        """The filters that are set, by option."""
        return {name: list(value) if name == "offsets" else value for name, value in asdict(self).items() if value}

    def where(self, now: datetime | None = None) -> str:
        """The SQL condition by time and offsets on rows aliased `archive`, for DuckDB and for Spark."""
        conditions = [
            *([f"archive.timestamp >= {_time(self.since, now)}"] if self.since else []),
            *([f"archive.timestamp < {_time(self.until, now)}"] if self.until else []),
            *([any_of(map(_in_range, self.offsets))] if self.offsets else []),
        ]
        return " AND ".join(conditions) or "true"

    def where_content(self) -> tuple[str, list[str]]:
        """The SQL condition by job, run and dataset on rows of `records`, and its parameters."""
        conditions, parameters = ["event_id IS NOT NULL"], []
        if self.run:
            conditions.append("run_id = ?")
            parameters.append(self.run.lower())
        for name, condition in ((self.job, _JOB), (self.dataset, _DATASET)):
            if name:
                conditions.append(_RUNS_WITH.format(condition))
                parameters += [name] * condition.count("?") * 2
        return " AND ".join(conditions), parameters

    def check(self) -> None:
        """Refuse names, times and offsets that are not valid."""
        for option, name in (("--job", self.job), ("--dataset", self.dataset)):
            if name and "/" not in name:
                raise InvalidSelection(f"{option} {name} has no namespace.", "Write it as NAMESPACE/NAME.")
        self.where()


def any_of(conditions: Iterable[str]) -> str:
    """The conditions combined with OR."""
    return f"({' OR '.join(f'({condition})' for condition in conditions)})"


def in_partition(topic: str, partition: int, first: int, last: int | None) -> str:
    """The SQL condition for a range of offsets, on rows aliased `archive`."""
    upto = "" if last is None else f" AND archive.offset <= {last}"
    return f"archive.topic = '{topic}' AND archive.partition = {partition} AND archive.offset >= {first}{upto}"


def _in_range(text: str) -> str:
    match = _OFFSETS.fullmatch(text)
    if match is None:
        raise InvalidSelection(
            f"--offsets {text} is not a range of offsets.",
            "Write TOPIC/PARTITION/FIRST-LAST, TOPIC/PARTITION/FIRST- or TOPIC/PARTITION/OFFSET.",
        )
    first = int(match["first"])
    last = (int(match["last"]) if match["last"] else None) if match["open"] else first
    return in_partition(match["topic"], int(match["partition"]), first, last)


def _time(text: str, now: datetime | None) -> str:
    return f"TIMESTAMP '{moment(text, now).astimezone(timezone.utc):%Y-%m-%d %H:%M:%S.%f}+00:00'"
