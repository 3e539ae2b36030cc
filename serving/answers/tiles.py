"""The numbers of the overview: each with the rows behind it, and the SQL that gives it."""

from typing import Literal

from lineproof.serving.answers import coverage as coverages
from lineproof.serving.answers.emitter_gaps import gaps
from lineproof.serving.answers.freshness import SQL as FRESHNESS
from lineproof.serving.answers.freshness import freshness_counts
from lineproof.serving.answers.href import href
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.lag import Lag
from lineproof.serving.answers.model import Answer, Trust
from lineproof.serving.answers.open_runs import open_runs, overdue_runs
from lineproof.serving.answers.run_certificates import certificate_faults
from lineproof.serving.answers.run_trust import trust_condition, unproven_runs
from lineproof.serving.answers.statement import Statement
from lineproof.serving.open_tables import TableSet

TileId = Literal["violations", "late", "overdue", "lag", "dead_letters", "defects", "coverage", "unknown"]

_VIOLATIONS = "SELECT kind, count(*) AS violations FROM violations GROUP BY kind ORDER BY kind"
_LEDGERS = "SELECT count(*) FROM ledger_violations WHERE stands"
_QUALITY = "SELECT count(*) FROM quality_violations WHERE stands"
_LOSSES = "SELECT count(*) FROM accepted_losses WHERE last_offset >= first_offset"
_QUARANTINE = "SELECT count(*) FROM quarantine"
_DEAD_LETTERS = """
SELECT count(*) FROM dead_letters AS letters
WHERE topic || '/' || partition || '/' || letters.offset NOT IN (
    SELECT source FROM redriven WHERE reason IS NULL AND source IS NOT NULL)
""".strip()
_DEFECTS = "SELECT count(*) FROM lineage_events WHERE defects IS NOT NULL"
_AFFECTED = """
SELECT DISTINCT output.namespace, output.name
FROM (SELECT unnest(outputs) AS output FROM runs WHERE {condition})
UNION
SELECT DISTINCT namespace, name FROM quality_violations WHERE stands AND name IS NOT NULL
"""


class Tile(Answer):
    """One number."""

    id: TileId
    label: str
    value: str
    trust: Trust | None
    """None: a number that is neither good nor bad."""
    detail: str
    href: str
    sql: str


def tiles(tables: TableSet, installation: Installation, behind: Lag | None) -> list[Tile]:
    """All numbers."""
    return [
        _violations(tables),
        _late(tables, installation),
        _overdue(tables),
        *([_lag(behind)] if behind else []),
        _dead_letters(tables),
        _defects(tables),
        _coverage(tables, installation),
        _unknown(tables),
    ]


def counts_of_violations(tables: TableSet) -> dict[str, int]:
    """The violations that stand, by kind. Each kind is counted again only when its tables have changed."""
    return {
        "ledger": tables.derived("ledger violations", ("runs",), lambda now: int(now.scalar(_LEDGERS))),
        "certificate": len(certificate_faults(tables).of_certificate),
        "test": tables.derived("quality violations", ("quality_results",), lambda now: int(now.scalar(_QUALITY))),
        "quarantined record": int(tables.scalar(_QUARANTINE)),
        "emitter gap": len(gaps(tables)),
        "loss in the archive": int(tables.scalar(_LOSSES)),
    }


def affected_datasets(tables: TableSet) -> tuple[int, bool]:
    """The datasets that violations are about, and whether all violations are about datasets."""
    counts = counts_of_violations(tables)
    is_all = not any(counts[kind] for kind in ("quarantined record", "emitter gap", "loss in the archive"))
    broken = _AFFECTED.format(
        condition="run_id IN (SELECT run_id FROM ledger_violations WHERE stands "
        "UNION ALL SELECT run_id FROM certificate_violations)"
    )
    found = tables.derived(
        "affected datasets",
        ("runs", "certificates", "quality_results"),
        lambda now: int(now.scalar(f"SELECT count(*) FROM ({broken})")),
    )
    return found, is_all


def _violations(tables: TableSet) -> Tile:
    counts = {kind: count for kind, count in counts_of_violations(tables).items() if count}
    detail = " · ".join(_counted(count, kind) for kind, count in counts.items())
    return Tile(
        id="violations",
        label="Violations",
        value=f"{sum(counts.values()):,}",
        trust="broken" if counts else None if tables.is_empty else "proven",
        detail=detail or "no check fails",
        href=href("violations"),
        sql=_VIOLATIONS,
    )


def _late(tables: TableSet, installation: Installation) -> Tile:
    found = freshness_counts(tables, installation)
    known = found.late + found.fresh
    trust: Trust = "broken" if found.late else "unknown" if found.unknown or not known else "proven"
    detail = f"{found.fresh:,} fresh, {found.unknown:,} unknown"
    if not known:
        detail = found.behind.text if found.behind else "no dataset has both a load and a limit"
    return Tile(
        id="late",
        label="Late datasets",
        value=f"{found.late:,}" if known else "unknown",
        trust=trust,
        detail=detail,
        href=href("datasets", freshness="late"),
        sql=FRESHNESS,
    )


def _overdue(tables: TableSet) -> Tile:
    late, of = len(overdue_runs(tables)), len(open_runs(tables))
    return Tile(
        id="overdue",
        label="Overdue runs",
        value=f"{late:,}",
        trust="unknown" if late else None,
        detail=f"of {of:,} without an end",
        href=href("runs", trust="unknown"),
        sql="SELECT * FROM open_runs WHERE is_overdue",
    )


def _lag(behind: Lag) -> Tile:
    return Tile(
        id="lag",
        label="Lag",
        value="unknown" if behind.seconds is None else f"{behind.seconds:,} s",
        trust=behind.trust,
        detail=behind.text,
        href=href("proof", tab="gaps"),
        sql="SELECT max(timestamp) AS newest_record FROM records",
    )


def _dead_letters(tables: TableSet) -> Tile:
    count = int(tables.scalar(_DEAD_LETTERS))
    return Tile(
        id="dead_letters",
        label="Dead letters",
        value=f"{count:,}",
        trust="broken" if count else None,
        detail="records that cannot be used, not resolved by a redrive",
        href=href("dead-letters"),
        sql=_DEAD_LETTERS,
    )


def _defects(tables: TableSet) -> Tile:
    count = tables.derived("events with defects", ("lineage_events",), lambda now: int(now.scalar(_DEFECTS)))
    return Tile(
        id="defects",
        label="Defects",
        value=f"{count:,}",
        trust=None,
        detail="events that were used although something is wrong with them",
        href=href("defects"),
        sql=_DEFECTS,
    )


def _coverage(tables: TableSet, installation: Installation) -> Tile:
    found = coverages.coverage(tables, installation)
    trust: Trust = "unknown" if not found.of or found.unknown else "broken" if found.missing else "proven"
    absent = [*found.missing, *found.unknown]
    named = ", ".join(one.name for one in absent[:3]) + (f" and {len(absent) - 3} more" if len(absent) > 3 else "")
    return Tile(
        id="coverage",
        label="Coverage",
        value=f"{found.seen:,} of {found.of:,}" if found.of else "unknown",
        trust=trust,
        detail=f"not seen: {named}; {found.unknown_because}"
        if found.unknown
        else found.unknown_because
        if found.unknown_because
        else f"missing: {named}"
        if absent
        else "critical pipelines emit lineage in their period",
        href=href("jobs"),
        sql=coverages.SQL,
    )


def _unknown(tables: TableSet) -> Tile:
    unknown = trust_condition("unknown", tables)
    query = Statement(f"SELECT count(*) FROM runs WHERE {unknown.text}", unknown.parameters)
    count = unproven_runs(tables)
    return Tile(
        id="unknown",
        label="Unproven runs",
        value=f"{count:,}",
        trust="unknown" if count else None,
        detail="nothing proves their result: no ledger, no certificate, or no end",
        href=href("runs", trust="unknown"),
        sql=query.shown(),
    )


def _counted(count: int, kind: str) -> str:
    words = f"{kind}s" if count != 1 and not kind.startswith("loss") else kind
    return f"{count:,} {words}"
