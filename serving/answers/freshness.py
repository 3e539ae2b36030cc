"""Whether datasets are as new as they should be: fresh, late or unknown.

What is not known is not green: while the job is stopped or behind, or events are missing since the last load, a dataset
is neither fresh nor late.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from lineproof.serving.answers.combinations import Pair
from lineproof.serving.answers.effective_age import EffectiveLoad, effective_loads
from lineproof.serving.answers.freshness_evidence import Missing, last_load_times, loads_since, missing
from lineproof.serving.answers.freshness_limits import Learned, Limit, dataset_names, limits
from lineproof.serving.answers.freshness_slo import DAYS, FreshShare, LoadHistory, fresh_shares
from lineproof.serving.answers.installation import NOT_KNOWN, Installation
from lineproof.serving.answers.lag import Lag, lag
from lineproof.serving.answers.model import Answer, Page, asked_at
from lineproof.serving.answers.paging import Paging, slice_of
from lineproof.serving.open_tables import TableSet

Verdict = Literal["fresh", "late", "unknown"]
NO_LIMIT = "no limit is declared, and there are too few loads to learn one"
SQL = "SELECT * FROM dataset_freshness ORDER BY verdict = 'late' DESC, verdict, age_ms - limit_ms DESC, namespace, name"
CLOCK_TOLERANCE = timedelta(minutes=5)
"""A load may be so far in the future; beyond that a clock is wrong."""
_ORDER = ("late", "unknown", "fresh")
_AT_ONCE = 100


class Freshness(Answer):
    """How old a dataset is, and how old it may be."""

    verdict: Verdict
    reason: str
    loaded_at: datetime | None
    age_s: int | None
    limit_s: int | None
    source: str | None
    """Who says the limit: a job, a file, a setting, or from how many gaps it is learned."""
    limit_source: Literal["declared", "learned", "none"]
    learned: Learned | None


class DatasetFreshness(Freshness):
    """The same with the dataset, with what it was made from, and the share of minutes in which it was fresh."""

    namespace: str
    name: str
    last_loaded_at: datetime | None
    effective: EffectiveLoad | None
    effective_age_s: int | None
    slo: list[FreshShare]


@dataclass(frozen=True)
class _Known:
    """What all verdicts rest on."""

    now: datetime
    loads: dict[Pair, datetime]
    limits: dict[Pair, Limit]
    missing: Missing
    behind: Lag | None
    """Why the tables do not have all events; None if they do."""

    def age(self, node: Pair) -> timedelta | None:
        """The time since the last load."""
        loaded_at = self.loads.get(node)
        return self.now - loaded_at if loaded_at else None

    def missing_until(self, node: Pair) -> datetime | None:
        """Until when events are missing that could be about this dataset."""
        found = (self.missing.of_all, self.missing.of_dataset.get(node))
        return max((at for at in found if at), default=None)

    def unknown_because(self, node: Pair) -> str | None:
        """Why nobody can say whether it is fresh."""
        loaded_at, age = self.loads.get(node), self.age(node)
        if self.behind:
            return self.behind.text
        if loaded_at is None or age is None:
            return "no successful run has written it"
        if age < -CLOCK_TOLERANCE:
            return "its last load is in the future: a clock is wrong"
        if self.missing.of_all and self.missing.of_all > loaded_at:
            return "records were lost since its last load"
        if (until := self.missing.of_dataset.get(node)) and until > loaded_at:
            return "events of a job that writes it are missing since its last load"
        return None if node in self.limits else NO_LIMIT

    def verdict(self, node: Pair) -> Verdict:
        """The verdict on one dataset."""
        if self.unknown_because(node):
            return "unknown"
        return "late" if self.is_over(node) else "fresh"

    def is_over(self, node: Pair) -> bool:
        """Whether the age is over the limit, if both are known."""
        age, limit = self.age(node), self.limits.get(node)
        return age is not None and limit is not None and age > timedelta(milliseconds=limit.ms)


def _known(tables: TableSet, installation: Installation) -> _Known:
    behind = lag(installation) if tables.known.how == "now" else None
    return _Known(
        asked_at(tables),
        last_load_times(tables),
        limits(tables, installation),
        missing(tables),
        behind if behind and behind.trust != "proven" else None,
    )


def freshness_of(tables: TableSet, installation: Installation, nodes: Sequence[Pair]) -> dict[Pair, Freshness]:
    """The verdicts on these datasets."""
    known = _known(tables, installation)
    return {node: _freshness(known, node) for node in nodes}


def _freshness(known: _Known, node: Pair) -> Freshness:
    reason, limit, age = known.unknown_because(node), known.limits.get(node), known.age(node)
    verdict: Verdict = "unknown" if reason else "late" if known.is_over(node) else "fresh"
    said = "its last load is older than the limit" if verdict == "late" else "loaded within the limit"
    return Freshness(
        verdict=verdict,
        reason=reason or said,
        loaded_at=known.loads.get(node),
        age_s=None if age is None else max(0, round(age.total_seconds())),
        limit_s=None if limit is None else round(limit.ms / 1000),
        source=limit.source if limit else None,
        limit_source=limit.kind if limit else "none",
        learned=limit.learned if limit else None,
    )


@dataclass(frozen=True)
class FreshnessCounts:
    """How many datasets have each verdict."""

    late: int
    fresh: int
    unknown: int
    behind: Lag | None


def freshness_counts(tables: TableSet, installation: Installation) -> FreshnessCounts:
    """Over all datasets."""
    known = _known(tables, installation)
    found = [known.verdict(node) for node in dataset_names(tables)]
    return FreshnessCounts(found.count("late"), found.count("fresh"), found.count("unknown"), known.behind)


def late_datasets(tables: TableSet, installation: Installation) -> dict[Pair, Freshness]:
    """The late datasets, the one that is over its limit for the longest time first."""
    known = _known(tables, installation)
    late = [node for node in dataset_names(tables) if known.verdict(node) == "late"]
    return {node: _freshness(known, node) for node in sorted(late, key=lambda node: _order(known, node))}


def freshness(
    tables: TableSet, verdict: Verdict | None, paging: Paging, installation: Installation = NOT_KNOWN
) -> Page[DatasetFreshness]:
    """All datasets, the late ones first."""
    known = _known(tables, installation)
    chosen = [node for node in dataset_names(tables) if verdict in (None, known.verdict(node))]
    nodes, cursor = slice_of(sorted(chosen, key=lambda node: _order(known, node)), paging)
    return Page(items=_complete(tables, known, nodes), next_cursor=cursor, sql=SQL)


def every_freshness(tables: TableSet, installation: Installation) -> list[DatasetFreshness]:
    """All datasets on one page, the late ones first."""
    known = _known(tables, installation)
    nodes = sorted(dataset_names(tables), key=lambda node: _order(known, node))
    return [one for at in range(0, len(nodes), _AT_ONCE) for one in _complete(tables, known, nodes[at : at + _AT_ONCE])]


def dataset_freshness(tables: TableSet, installation: Installation, node: Pair) -> DatasetFreshness:
    """Everything about one dataset."""
    return _complete(tables, _known(tables, installation), [node])[0]


def _order(known: _Known, node: Pair) -> tuple[int, float, Pair]:
    age, limit = known.age(node), known.limits.get(node)
    over = 0 if age is None or limit is None else age.total_seconds() - limit.ms / 1000
    return _ORDER.index(known.verdict(node)), -over, node


def _complete(tables: TableSet, known: _Known, nodes: Sequence[Pair]) -> list[DatasetFreshness]:
    effective = effective_loads(tables, nodes)
    since = loads_since(tables, nodes, known.now - timedelta(days=max(DAYS)))
    found = []
    for node in nodes:
        stated, of_node = _freshness(known, node), effective.get(node)
        limit = known.limits.get(node)
        history = LoadHistory(
            since.get(node, []), limit.ms if limit else None, known.missing_until(node), known.behind is None
        )
        found.append(
            DatasetFreshness(
                **dict(stated),
                namespace=node[0],
                name=node[1],
                last_loaded_at=stated.loaded_at,
                effective=of_node,
                effective_age_s=max(0, round((known.now - of_node.loaded_at).total_seconds())) if of_node else None,
                slo=fresh_shares(history, known.now),
            )
        )
    return found
