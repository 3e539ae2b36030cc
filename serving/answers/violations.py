"""The feed of violations: what is wrong or was, since when, and what to do about it."""

from datetime import datetime
from typing import Any, Literal

from lineproof.schemas.verdicts import LEDGER_BALANCED
from lineproof.serving.answers.emitter_gaps import gaps
from lineproof.serving.answers.href import dataset_href, href, run_href
from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.remedies import remedy
from lineproof.serving.answers.run_certificates import certificate_faults
from lineproof.serving.open_tables import TableSet

Kind = Literal["ledger", "certificate", "quality", "quarantine", "emitter", "archive"]
Stands = Literal["true", "false", "all"]

KEYS = (
    Key("opened", is_descending=True, is_time=True),
    Key("kind"),
    Key("subject_key"),
    Key("identity"),
)
_NO_TIME = "TIMESTAMPTZ '0001-01-01 00:00:00+00'"
_NO_NAME = "CAST(NULL AS VARCHAR) AS namespace, CAST(NULL AS VARCHAR) AS name"

# A ledger that was resolved says when its last one was stated. The faulty one was stated when the run completed.
_LEDGER = f"""
SELECT 'ledger' AS kind, verdict, run_id AS subject, run_id,
    job_namespace || '/' || job_name || ': the difference is ' || coalesce(CAST(difference AS VARCHAR), 'not known')
        AS detail,
    CASE WHEN is_violation THEN stated_at ELSE least(completed_at, stated_at) END AS opened_at,
    is_violation AS stands,
    CASE WHEN NOT is_violation AND verdict = '{LEDGER_BALANCED}' THEN stated_at END AS resolved_at,
    {_NO_NAME}, run_id AS identity
FROM ledger_checks WHERE is_violation OR (completed_at IS NOT NULL AND had_faulty_ledger)
"""
_CERTIFICATE = f"""
SELECT 'certificate' AS kind, verdict, subject, run_id, detail, stated_at AS opened_at, stands,
    CAST(NULL AS TIMESTAMPTZ) AS resolved_at, {_NO_NAME}, certificate_key AS identity
FROM certificate_violations
"""
# A test is resolved by the first results after its failure in which it passes, or in which its suite no longer has it.
_QUALITY = """
SELECT 'quality' AS kind, failed.verdict, failed.subject, failed.run_id, failed.detail, failed.stated_at AS opened_at,
    failed.stands,
    min(later.event_time) AS resolved_at,
    failed.namespace, failed.name, failed.event_id || failed.detail AS identity
FROM quality_violations AS failed
LEFT JOIN quality_results AS later
    ON NOT failed.stands
    AND later.success IS NOT NULL
    AND later.event_time > failed.stated_at
    AND later.namespace IS NOT DISTINCT FROM failed.namespace
    AND later.name IS NOT DISTINCT FROM failed.name
    AND later.suite IS NOT DISTINCT FROM failed.suite
    AND (failed.suite IS NOT NULL OR (later.expectation IS NOT DISTINCT FROM failed.expectation
        AND later.column IS NOT DISTINCT FROM failed.column))
GROUP BY ALL
"""
_QUARANTINE = f"""
SELECT 'quarantine' AS kind, 'cannot be processed' AS verdict,
    coalesce(topic || '/' || partition || '/' || quarantine.offset, event_id) AS subject,
    CAST(NULL AS VARCHAR) AS run_id,
    error AS detail, found_at AS opened_at, true AS stands, CAST(NULL AS TIMESTAMPTZ) AS resolved_at, {_NO_NAME},
    concat_ws('/', query, topic, partition, quarantine.offset, event_id) AS identity
FROM quarantine
"""
_EMITTER = f"""
SELECT 'emitter' AS kind, 'missing events' AS verdict, gaps.emitter_id AS subject, CAST(NULL AS VARCHAR) AS run_id,
    gaps.missing || ' from sequence ' || gaps.first_missing AS detail, min(records.timestamp) AS opened_at,
    true AS stands, CAST(NULL AS TIMESTAMPTZ) AS resolved_at, {_NO_NAME},
    gaps.emitter_id || '/' || gaps.first_missing AS identity
FROM emitter_gaps AS gaps
JOIN records ON records.emitter_id = gaps.emitter_id AND records.sequence = gaps.last_missing + 1
GROUP BY gaps.emitter_id, gaps.first_missing, gaps.missing
"""
_ARCHIVE = f"""
SELECT 'archive' AS kind, 'missing records' AS verdict, topic || '-' || partition AS subject,
    CAST(NULL AS VARCHAR) AS run_id, (last_offset - first_offset + 1) || ' from offset ' || first_offset AS detail,
    accepted_at AS opened_at, true AS stands, CAST(NULL AS TIMESTAMPTZ) AS resolved_at, {_NO_NAME},
    topic || '/' || partition || '/' || first_offset AS identity
FROM accepted_losses WHERE last_offset >= first_offset
"""
OF_KIND: dict[Kind, str] = {
    "ledger": _LEDGER,
    "certificate": _CERTIFICATE,
    "quality": _QUALITY,
    "quarantine": _QUARANTINE,
    "emitter": _EMITTER,
    "archive": _ARCHIVE,
}
_COLUMNS = "kind, verdict, subject, run_id, detail, opened_at, stands, resolved_at, namespace, name"


class Violation(Answer):
    """A check that fails, or failed before."""

    kind: Kind
    verdict: str
    subject: str
    """What it is about: a run, a certificate, a dataset, a record, an emitter, a partition."""
    run_id: str | None
    namespace: str | None
    """Of the tested dataset."""
    name: str | None
    detail: str
    opened_at: datetime | None
    """Time of the event that states it."""
    stands: bool
    resolved_at: datetime | None
    """Time of the event that resolved it; None if it stands, or if that is not known."""
    remedy: str
    href: str


def violations(tables: TableSet, kind: Kind | None, stands: Stands, paging: Paging) -> Page[Violation]:
    """Violations, the newest first."""
    chosen = [kind] if kind else [*OF_KIND]
    if len(chosen) > 1:  # these compare all numbers and all links, which has been done already
        none = {"emitter": not gaps(tables), "certificate": not certificate_faults(tables).of_certificate}
        chosen = [one for one in chosen if not none.get(one)]
    union = " UNION ALL ".join(f"({OF_KIND[one].strip()})" for one in chosen)
    where = "" if stands == "all" else f" WHERE stands = {stands}"
    query = (
        f"SELECT {_COLUMNS}, coalesce(opened_at, {_NO_TIME}) AS opened, coalesce(subject, '') AS subject_key, "
        f"coalesce(identity, '') AS identity FROM ({union}){where}"
    )
    found = page(tables, query, (), KEYS, paging)
    return Page(items=[_violation(row) for row in found.rows], next_cursor=found.next_cursor, sql=found.sql)


def _violation(row: dict[str, Any]) -> Violation:
    return Violation(
        remedy=remedy(row["kind"], row["verdict"]),
        href=_href(row),
        **{
            **{name: row[name] for name in _COLUMNS.split(", ")},
            "subject": row["subject"] or "",
            "detail": row["detail"] or "",
            "stands": bool(row["stands"]),
        },
    )


def _href(row: dict[str, Any]) -> str:
    if row["kind"] == "certificate":
        return href("proof", tab="certificates", certificate=row["subject"])
    if row["kind"] in ("emitter", "archive"):
        return href("proof", tab="gaps")
    if row["name"] is not None:
        return dataset_href(row["namespace"], row["name"])
    if row["run_id"] is not None:
        return run_href(row["run_id"])
    return href("violations", kind=row["kind"])
