"""Verify certificate chains, from a file or from the table: every hash is computed again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lineproof.schemas.certificates import Certificate, ChainFault, faults, verify
from lineproof.schemas.tables import CERTIFICATES
from lineproof.serving.sql import Tables

TABLE = CERTIFICATES.name


@dataclass(frozen=True)
class Report:
    """The result, in one line."""

    holds: bool
    text: str


def verify_chain(chain: Sequence[Certificate], name: str, head: str | None) -> Report:
    """One chain, oldest certificate first. `name` is the file that it comes from."""
    finding = verify(chain, head=head)
    if finding is None:
        return Report(True, f"{len(chain)} certificates, every link holds.")
    certificate = f" ({finding.certificate_id})" if finding.certificate_id else ""
    return Report(False, f"{name}:{finding.position + 1}{certificate}: {finding.fault.value}")


def verify_table(tables: str, head: str | None) -> Report:
    """All certificates of the table, of any number of chains. Names the earliest faulty certificate."""
    result = Tables(tables).query("SELECT * FROM certificates ORDER BY timestamp, certificate_key")
    certificates = [_certificate(dict(zip(result.columns, row, strict=True))) for row in result.rows]
    judged = zip(certificates, faults(certificates), strict=True)
    found = [(certificate, fault) for certificate, fault in judged if fault]
    if found:
        first, fault = found[0]
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return Report(False, f"{TABLE}: {first.certificate_id} of run {first.run_id}: {fault.value}{more}")
    if head is not None and all(certificate.chain_hash != head for certificate in certificates):
        return Report(False, f"{TABLE}: {ChainFault.TRUNCATED.value}: no certificate has the hash {head}")
    return Report(True, f"{len(certificates)} certificates, every link holds.")


def _certificate(row: dict[str, Any]) -> Certificate:
    """The certificate as it was hashed. A missing value becomes empty, which the hash then shows."""
    texts = (
        *("certificate_id", "source_state_hash", "target_state_hash", "contract_version"),
        *("timestamp", "run_id", "previous_hash", "algorithm", "chain_hash"),
    )
    thresholds = row["materiality_thresholds"] or ()
    return Certificate(
        **{name: row[name] or "" for name in texts},
        invariants={invariant["name"]: invariant["passed"] for invariant in row["invariants"] or ()},
        materiality_thresholds={threshold["name"]: threshold["value"] or "" for threshold in thresholds},
    )
