"""How old datasets may be: as jobs, the list of critical pipelines and the settings declare, or as it is learned."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from typing import Literal

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.freshness_evidence import last_load_times
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.model import Answer
from lineproof.serving.open_tables import TableSet

_DECLARED = "SELECT namespace, name, limit_ms, job_namespace, job_name FROM declared_limits"
_LEARNED = "SELECT namespace, name, limit_ms, n, k, false_alarms, is_weekly FROM learned_limits"


class Learned(Answer):
    """A limit that is learned: the k-th longest of the last n gaps between loads."""

    n: int
    k: int
    false_alarms: float
    """If gaps to come are like the last ones, at most this share of them is longer than the limit."""
    is_weekly: bool
    """Only gaps that began on weekdays of the same kind count."""


@dataclass(frozen=True)
class Limit:
    """How old a dataset may be."""

    ms: int
    kind: Literal["declared", "learned"]
    source: str
    """For people: who says so."""
    learned: Learned | None = None


def limits(tables: TableSet, installation: Installation) -> dict[Pair, Limit]:
    """The limit of every dataset that has one. Of several declared limits the shortest counts."""
    of = (installation.pipelines, installation.pipelines_from, installation.limits)
    needed = ("runs", "jobs", "job_io", "dataset_nodes", "datasets")
    return tables.derived(f"freshness limits {hash(of)}", needed, lambda now: _limits(now, installation))


def _limits(tables: TableSet, installation: Installation) -> dict[Pair, Limit]:
    found = dict(tables.derived("learned limits", ("runs", "dataset_nodes"), _learned))
    shortest: dict[Pair, Limit] = {}
    for node, limit in _declared(tables, installation):
        if node not in shortest or limit.ms < shortest[node].ms:
            shortest[node] = limit
    return found | shortest


def _learned(tables: TableSet) -> dict[Pair, Limit]:
    found = {}
    for namespace, name, ms, n, k, false_alarms, is_weekly in tables.query(_LEARNED, timeout_s=60).rows:
        learned = Learned(n=n, k=k, false_alarms=false_alarms, is_weekly=is_weekly)
        found[namespace, name] = Limit(ms, "learned", f"learned from {n} gaps between loads", learned)
    return found


def _declared(tables: TableSet, installation: Installation) -> Iterator[tuple[Pair, Limit]]:
    for namespace, name, ms, job_namespace, job_name in tables.query(_DECLARED).rows:
        yield (namespace, name), Limit(ms, "declared", f"{job_namespace}/{job_name}")
    known = combinations(tables)
    listed = {(one.namespace, one.name): one.freshness_s for one in installation.pipelines or ()}
    for node, writers in known.writers.items():
        stated = [seconds for job in writers if (seconds := listed.get(job)) is not None]
        if stated:
            yield node, Limit(round(min(stated) * 1000), "declared", installation.pipelines_from)
    patterns = [(re.compile(translate(pattern)), pattern, seconds) for pattern, seconds in installation.limits]
    for node in dataset_names(tables) if patterns else ():
        of_node = (pattern for pattern in patterns if pattern[0].match(f"{node[0]}/{node[1]}"))
        if first := next(of_node, None):
            yield node, Limit(round(first[2] * 1000), "declared", f"freshness.limits: {first[1]}")


def dataset_names(tables: TableSet) -> list[Pair]:
    """All datasets, by their name in lineage."""
    return tables.derived("dataset names", ("datasets", "job_io", "dataset_nodes", "runs"), _names)


def _names(tables: TableSet) -> list[Pair]:
    known = combinations(tables)
    rows = tables.query("SELECT namespace, name FROM datasets", timeout_s=60).rows
    listed = {known.node(namespace, name) for namespace, name in rows}
    return sorted({*listed, *known.writers, *known.readers, *last_load_times(tables)})
