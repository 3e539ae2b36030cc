"""Which certificates are not genuine, and the certificates of one run."""

from dataclasses import dataclass
from datetime import datetime

from lineproof.schemas.verdicts import CERTIFICATE_GENUINE
from lineproof.serving.answers.model import Answer
from lineproof.serving.open_tables import TableSet

COLUMNS = "certificate_key, certificate_id, run_id, chain_hash, computed_hash, previous_hash, issued_at, algorithm"


@dataclass(frozen=True)
class Faults:
    """The certificates that are not genuine, links to others included."""

    of_certificate: dict[str, str]
    """Verdict by certificate_key."""
    of_run: dict[str, set[str]]
    """All verdicts but genuine, by run."""


def certificate_faults(tables: TableSet) -> Faults:
    """Found again only when there are new certificates: the links of all of them are compared."""
    return tables.derived("certificate faults", ("certificates",), _faults)


def _faults(tables: TableSet) -> Faults:
    found = Faults({}, {})
    rows = tables.query(
        "SELECT certificate_key, run_id, verdict FROM certificate_checks WHERE verdict <> ?", CERTIFICATE_GENUINE
    ).rows
    for key, run_id, verdict in rows:
        found.of_certificate[key] = verdict
        found.of_run.setdefault(run_id, set()).add(verdict)
    return found


class LinkedCertificate(Answer):
    """A certificate of a run."""

    certificate_id: str | None
    verdict: str
    chain_hash: str | None
    computed_hash: str | None
    previous_hash: str | None
    issued_at: datetime | None


def certificates_of(tables: TableSet, run_id: str) -> list[LinkedCertificate]:
    """The certificates about this run, oldest first."""
    rows = tables.rows(
        f"SELECT {COLUMNS} FROM certificates WHERE run_id = ? ORDER BY issued_at, certificate_key", run_id
    )
    verdicts = certificate_faults(tables).of_certificate
    fields = LinkedCertificate.model_fields.keys() - {"verdict"}
    return [
        LinkedCertificate(
            verdict=verdicts.get(row["certificate_key"], CERTIFICATE_GENUINE), **{name: row[name] for name in fields}
        )
        for row in rows
    ]
