"""How old the data in a dataset is: the oldest load among all that it was made from.

A run read each input as the last load before the run began had left it. So a dataset that is loaded an hour before its
source is as old as the source of yesterday. Datasets that are made from each other count as one: of each, the last load
counts, or a dataset that is updated from itself would be as old as its first load.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.cycles import components
from lineproof.serving.answers.lineage_runs import (
    Moment,
    find_moments,
    last_written,
    run_rows,
    written_before,
)
from lineproof.serving.answers.model import Answer, Name
from lineproof.serving.open_tables import TableSet

MAX_LOADS = 20_000
"""So many loads are followed."""
MAX_SECONDS = 3.0
"""After so long no further step upstream is begun: each of them is a query."""

State = tuple[Pair, datetime | None]
"""A dataset, and when it was read; None for now."""


class EffectiveLoad(Answer):
    """The oldest load that a dataset goes back to."""

    loaded_at: datetime
    of: Name
    """The dataset with this load."""
    sources: list[Name]
    """The datasets that it goes back to and that no known run has written: how old they are, nobody knows."""
    is_complete: bool
    """False: there were too many loads to follow all of them, so the data may be older."""


@dataclass
class _Trace:
    """What was found for one dataset."""

    oldest: tuple[datetime, Pair] | None = None
    sources: set[Pair] = field(default_factory=set)
    seen: set[State] = field(default_factory=set)


def effective_loads(tables: TableSet, nodes: Sequence[Pair]) -> dict[Pair, EffectiveLoad]:
    """For the datasets that were loaded at all. All are followed together, one step upstream after the other."""
    traces = {node: _Trace(seen={(node, None)}) for node in nodes}
    waiting: dict[State, set[Pair]] = {(node, None): {node} for node in nodes}
    followed, began = 0, time.monotonic()
    while waiting and followed < MAX_LOADS and time.monotonic() - began < MAX_SECONDS:
        followed += len(waiting)
        waiting = _step(tables, traces, waiting)
    is_complete = not waiting
    return {
        node: EffectiveLoad(
            loaded_at=trace.oldest[0],
            of=_name(trace.oldest[1]),
            sources=[*map(_name, sorted(trace.sources))],
            is_complete=is_complete,
        )
        for node, trace in traces.items()
        if trace.oldest
    }


def _step(tables: TableSet, traces: dict[Pair, _Trace], waiting: dict[State, set[Pair]]) -> dict[State, set[Pair]]:
    known, component = combinations(tables), components(tables)
    moments = _moments(tables, waiting)
    rows = run_rows(tables, [moment.run_id for moment in moments.values()])
    found: dict[State, set[Pair]] = {}
    for (node, until), roots in waiting.items():
        moment = moments.get((node, until))
        if moment is None:
            for root in roots:
                traces[root].sources.add(node)
            continue
        for root in roots:
            oldest = traces[root].oldest
            traces[root].oldest = min(oldest, (moment.at, node)) if oldest else (moment.at, node)
        row = rows.get(moment.run_id, {})
        began = row.get("started_at") or row.get("first_event_at") or moment.at
        for one in row.get("inputs") or ():
            source = known.node(one["namespace"], one["name"])
            is_cycle = component.get(source) == component.get(node)
            state = (source, until if is_cycle else min(began, until or began))
            new = {root for root in roots if state not in traces[root].seen}
            for root in new:
                traces[root].seen.add(state)
            if new:
                found.setdefault(state, set()).update(new)
    return found


def _moments(tables: TableSet, states: dict[State, set[Pair]]) -> dict[State, Moment]:
    find_moments(tables, {node for node, _ in states})
    before = written_before(tables, [(node, until) for node, until in states if until is not None])
    found: dict[State, Moment] = dict(before.items())
    for node, until in states:
        if until is None and (moment := last_written(tables, node)):
            found[node, None] = moment
    return found


def _name(pair: Pair) -> Name:
    return Name(namespace=pair[0], name=pair[1])
