"""Certificates, and the chains that they form: each names the hash of the one before."""

from collections import defaultdict
from datetime import datetime, timezone
from typing import Any

from lineproof.schemas.verdicts import CERTIFICATE_GENUINE
from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.paging import Key, Paging, page, slice_of
from lineproof.serving.answers.run_certificates import certificate_faults
from lineproof.serving.answers.run_trust import UNPROVEN_CERTIFICATES
from lineproof.serving.answers.statement import Conditions
from lineproof.serving.open_tables import TableSet

MAX_CERTIFICATES = 20_000
"""Chains are made of the newest ones. `is_complete` says whether there are more."""
MAX_OF_CHAIN = 1000
_NEVER = "TIMESTAMPTZ '0001-01-01 00:00:00+00'"
_ZEROS = "0" * 64
KEYS = (Key("issued", is_time=True), Key("certificate_key"))
_CHAINED = "certificate_key, certificate_id, run_id, chain_hash, computed_hash, previous_hash, issued_at"
_NEWEST = f"SELECT {_CHAINED} FROM certificates ORDER BY issued_at DESC NULLS LAST, certificate_key LIMIT ?"


class CertificateCheck(Answer):
    """A row of the view `certificate_checks`."""

    verdict: str
    hash_verdict: str
    certificate_key: str
    certificate_id: str | None
    run_id: str | None
    issued_at: datetime | None
    chain_hash: str | None
    computed_hash: str | None
    previous_hash: str | None
    algorithm: str | None
    source_state_hash: str | None
    target_state_hash: str | None
    contract_version: str | None


class ChainedCertificate(Answer):
    """A certificate in its chain."""

    certificate_id: str | None
    verdict: str
    run_id: str | None
    issued_at: datetime | None
    chain_hash: str | None
    computed_hash: str | None
    previous_hash: str | None


class Chain(Answer):
    """Certificates, each with the hash of the one before, oldest first."""

    chain: str
    """The id of its first certificate."""
    length: int
    genuine: int
    broken: int
    unknown: int
    """Of an unknown algorithm, or without the certificate before: neither genuine nor refuted."""
    is_complete: bool
    """False if only the latest certificates are shown, or if the chain begins before them."""
    certificates: list[ChainedCertificate]


def certificates(tables: TableSet, verdict: str | None, run_id: str | None, paging: Paging) -> Page[CertificateCheck]:
    """Certificates in the order in which they were issued, which is that of a chain."""
    conditions = Conditions()
    conditions.equal("verdict", verdict)
    conditions.equal("run_id", run_id)
    columns = ", ".join(CertificateCheck.model_fields)
    query = f"SELECT {columns}, coalesce(issued_at, {_NEVER}) AS issued FROM certificate_checks {conditions.where}"
    found = page(tables, query, conditions.parameters, KEYS, paging)
    items = [CertificateCheck(**{name: row[name] for name in CertificateCheck.model_fields}) for row in found.rows]
    return Page(items=items, next_cursor=found.next_cursor, sql=found.sql)


def chains(tables: TableSet, paging: Paging) -> Page[Chain]:
    """The chains: those with faults first, then the longest."""
    found = tables.derived("certificate chains", ("certificates",), _chains)
    items, cursor = slice_of(found, paging)
    return Page(
        items=items, next_cursor=cursor, sql=f"SELECT verdict, {_CHAINED} FROM certificate_checks ORDER BY issued_at"
    )


def _chains(tables: TableSet) -> list[Chain]:
    rows = tables.rows(_NEWEST, MAX_CERTIFICATES + 1)
    is_complete = len(rows) <= MAX_CERTIFICATES
    linked = sorted(rows[:MAX_CERTIFICATES], key=_order)
    verdicts = certificate_faults(tables).of_certificate
    found = [_chain(chain, verdicts, is_complete=is_complete) for chain in link(linked)]
    return sorted(found, key=lambda one: (-one.broken, -one.unknown, -one.length, one.chain))


def link(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Split certificates into chains by their links, not their times. A second successor begins a new chain."""
    by_hash = {row["chain_hash"]: row for row in reversed(rows) if row["chain_hash"]}
    next_ones: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        next_ones[row["previous_hash"] or ""].append(row)
    starts = [row for row in rows if not _has_previous(row, by_hash)]
    starts += [row for hash_ in by_hash for row in next_ones[hash_][1:]]
    seen: set[str] = set()
    chains_ = [chain for start in starts if (chain := _follow(start, next_ones, seen))]
    # What is left are circles, which only forged certificates can form.
    return chains_ + [chain for row in rows if (chain := _follow(row, next_ones, seen))]


def _has_previous(row: dict[str, Any], by_hash: dict[str, dict[str, Any]]) -> bool:
    previous = row["previous_hash"]
    return bool(previous) and previous != _ZEROS and previous in by_hash


def _follow(start: dict[str, Any], next_ones: dict[str, list[dict[str, Any]]], seen: set[str]) -> list[dict[str, Any]]:
    chain: list[dict[str, Any]] = []
    at: dict[str, Any] | None = start
    while at is not None and at["certificate_key"] not in seen:
        seen.add(at["certificate_key"])
        chain.append(at)
        hash_ = at["chain_hash"]
        at = next(iter(next_ones.get(hash_, ())), None) if hash_ and hash_ != _ZEROS else None
    return chain


def _order(row: dict[str, Any]) -> tuple[datetime, str]:
    return row["issued_at"] or datetime.min.replace(tzinfo=timezone.utc), row["certificate_key"]


def _chain(rows: list[dict[str, Any]], faults: dict[str, str], *, is_complete: bool) -> Chain:
    verdicts = [faults.get(row["certificate_key"], CERTIFICATE_GENUINE) for row in rows]
    unknown = sum(verdict in UNPROVEN_CERTIFICATES for verdict in verdicts)
    genuine = verdicts.count(CERTIFICATE_GENUINE)
    shown = [
        ChainedCertificate(
            verdict=verdict, **{name: row[name] for name in ChainedCertificate.model_fields if name != "verdict"}
        )
        for row, verdict in zip(rows[-MAX_OF_CHAIN:], verdicts[-MAX_OF_CHAIN:], strict=True)
    ]
    return Chain(
        chain=rows[0]["certificate_id"] or rows[0]["certificate_key"],
        length=len(rows),
        genuine=genuine,
        broken=len(rows) - genuine - unknown,
        unknown=unknown,
        is_complete=is_complete and len(shown) == len(rows),
        certificates=shown,
    )
