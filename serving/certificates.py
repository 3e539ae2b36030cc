"""`lineproof certificates verify`: chains in a file or in the table, every hash computed again here."""

from dataclasses import dataclass
from typing import Any

from lineproof.producers.chain import parse_lines
from lineproof.schemas.certificates import Certificate, Fault, faults, verify
from lineproof.settings import Settings
from lineproof.topics.event_files import read_text

TABLE = "certificates"


@dataclass(frozen=True)
class Report:
    """What was found, in one line."""

    holds: bool
    text: str


def verify_file(file: str, head: str | None) -> Report:
    """One chain, oldest first."""
    chain = parse_lines(read_text(file).encode(), file)
    finding = verify(chain, head=head)
    if finding is None:
        return Report(True, f"{len(chain)} certificates, every link holds.")
    named = f" ({finding.certificate_id})" if finding.certificate_id else ""
    return Report(False, f"{file}:{finding.position + 1}{named}: {finding.fault.value}")


def verify_table(settings: Settings, head: str | None) -> Report:
    """All certificates of the table, of whatever chains. The first bad one is that with the earliest timestamp."""
    from lineproof.serving.sql import Tables

    result = Tables(settings.tables_path).query("SELECT * FROM certificates ORDER BY timestamp, certificate_key")
    certificates = [_certificate(dict(zip(result.columns, row, strict=True))) for row in result.rows]
    found = faults(certificates)
    bad = [number for number, fault in enumerate(found) if fault]
    if bad:
        first = certificates[bad[0]]
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        reason = found[bad[0]] or Fault.ALTERED
        return Report(False, f"{TABLE}: {first.certificate_id} of run {first.run_id}: {reason.value}{more}")
    if head is not None and all(certificate.chain_hash != head for certificate in certificates):
        return Report(False, f"{TABLE}: {Fault.TRUNCATED.value}: no certificate has the hash {head}")
    return Report(True, f"{len(certificates)} certificates, every link holds.")


def _certificate(row: dict[str, Any]) -> Certificate:
    """As it was hashed; what is missing becomes empty, and the hash says so."""
    texts = (
        *("certificate_id", "source_state_hash", "target_state_hash", "contract_version"),
        *("timestamp", "run_id", "previous_hash", "algorithm", "chain_hash"),
    )
    return Certificate(
        **{name: row[name] or "" for name in texts},
        invariants={one["name"]: one["passed"] for one in row["invariants"] or ()},
        materiality_thresholds={one["name"]: one["value"] or "" for one in row["materiality_thresholds"] or ()},
    )
