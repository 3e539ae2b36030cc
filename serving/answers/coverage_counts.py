"""What events, records, runs and datasets have, as a numerator over a denominator with its source."""

from lineproof.serving.answers.lag import Lag
from lineproof.serving.answers.model import Answer
from lineproof.serving.open_tables import TableSet

_EVENTS = """
SELECT count(DISTINCT (emitter_id, sequence)) AS covered,
    (SELECT sum(sent) FROM (SELECT max(sequence) + 1 AS sent FROM records WHERE emitter_id IS NOT NULL
        GROUP BY emitter_id)) AS total,
    (SELECT count(*) FROM records WHERE emitter_id IS NULL AND reason IS NULL) AS not_numbered
FROM records WHERE emitter_id IS NOT NULL
""".strip()
_RECORDS = """
SELECT (SELECT count(*) FROM archive) AS covered,
    (SELECT coalesce(sum(last_offset - first_offset + 1), 0) FROM accepted_losses WHERE last_offset >= first_offset)
        AS lost,
    (SELECT count(*) FROM accepted_losses WHERE last_offset IS NULL) AS topics_gone
""".strip()
_RUNS = """
SELECT count(*) AS total,
    count(*) FILTER (ledger_verdict IS NOT NULL) AS with_ledger,
    count(*) FILTER (ledger_verdict = 'balanced') AS balanced,
    count(*) FILTER (certificate_verdict IS NOT NULL) AS with_certificate
FROM runs WHERE state = 'COMPLETED'
""".strip()
_DATASETS = """
SELECT count(*) AS total,
    count(*) FILTER (len(fields) > 0) AS with_schema,
    count(*) FILTER (len(owners) > 0) AS with_owner,
    count(*) FILTER (description <> '') AS with_description,
    count(*) FILTER ((namespace, name) IN (SELECT (namespace, name) FROM quality_results WHERE name IS NOT NULL))
        AS with_tests
FROM datasets
""".strip()


class Counted(Answer):
    """One share."""

    id: str
    label: str
    covered: int
    of: int | None
    """Null: nobody knows the whole."""
    ratio: float | None
    """Null where the whole is not known, or empty."""
    source: str
    """What the numbers are taken from, and what they do not say."""
    sql: str


def counted(tables: TableSet, behind: Lag | None) -> list[Counted]:
    """All shares. While the job is stopped or behind, the whole of events and records is not known."""
    needed = ("records", "archive", "accepted_losses", "runs", "datasets", "quality_results")
    found = tables.derived("coverage counts", needed, _counted)
    if behind is None:
        return found
    is_open = ("events", "records")
    return [one if one.id not in is_open else _open_ended(one, behind.text) for one in found]


def _open_ended(one: Counted, reason: str) -> Counted:
    return one.model_copy(update={"of": None, "ratio": None, "source": f"{one.source}; {reason}"})


def _counted(tables: TableSet) -> list[Counted]:
    return [_events(tables), _records(tables), *_runs(tables), *_datasets(tables)]


def _events(tables: TableSet) -> Counted:
    row = tables.row(_EVENTS) or {}
    covered, total, others = row.get("covered") or 0, row.get("total"), row.get("not_numbered") or 0
    source = "sequence numbers of emitters, up to the last event of each that arrived"
    if others:
        total = None
        source += f"; {others:,} records have no number, so nobody knows how many there should be"
    return _share("events", "events that arrived", covered, total, source, _EVENTS)


def _records(tables: TableSet) -> Counted:
    row = tables.row(_RECORDS) or {}
    covered = row.get("covered") or 0
    total = None if row.get("topics_gone") else covered + (row.get("lost") or 0)
    source = "offsets in the archive, and those in accepted_losses"
    if total is None:
        source += "; a topic was gone, and nobody knows how many records it had"
    return _share("records", "records that were archived", covered, total, source, _RECORDS)


def _runs(tables: TableSet) -> list[Counted]:
    row = tables.row(_RUNS) or {}
    total, ledgers = row.get("total", 0), row.get("with_ledger", 0)
    runs = "runs with state COMPLETED"
    return [
        _share("runs_with_ledger", "completed runs with a ledger", ledgers, total, runs, _RUNS),
        _share("balanced", "ledgers that balance", row.get("balanced", 0), ledgers, f"{runs} and a ledger", _RUNS),
        _share(
            *("runs_with_certificate", "completed runs with a certificate", row.get("with_certificate", 0)),
            *(total, runs, _RUNS),
        ),
    ]


def _datasets(tables: TableSet) -> list[Counted]:
    row = tables.row(_DATASETS) or {}
    return [
        _share(
            *(f"datasets_with_{part}", f"datasets with {words}", row.get(f"with_{part}", 0)),
            *(row.get("total", 0), "datasets that an event names", _DATASETS),
        )
        for part, words in (
            ("schema", "a schema"),
            ("owner", "an owner"),
            ("description", "a description"),
            ("tests", "tests"),
        )
    ]


def _share(id_: str, label: str, covered: int, of: int | None, source: str, sql: str) -> Counted:
    covered, total = int(covered), None if of is None else int(of)
    return Counted(
        id=id_,
        label=label,
        covered=covered,
        of=total,
        ratio=covered / total if total else None,
        source=source,
        sql=sql,
    )
