"""Fidelity certificates: a hash-linked chain, as pure functions on text and bytes.

The hash of a certificate covers a domain tag, the algorithm id, every field in a fixed order and the hash of the
previous certificate. Each is written as `LENGTH:TEXT` with the length in bytes, so that Spark SQL can compute the same
bytes with `concat` and `sha2`. Changing any certificate breaks every later hash.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import Any

from lineproof.schemas import verdicts
from lineproof.schemas.openlineage import parse_instant

ALGORITHM = "lineproof-sha256-1"
GENESIS = "0" * 64
"""The previous hash of the first certificate of a chain."""

DOMAIN = "lineproof/certificate"
"""The first text of every hash: keeps it different from hashes that are made for another purpose."""


@dataclass(frozen=True)
class Certificate:
    """A run's statement: from which state to which, under which contract, with which checks passed."""

    certificate_id: str
    source_state_hash: str
    target_state_hash: str
    contract_version: str
    invariants: Mapping[str, bool]
    materiality_thresholds: Mapping[str, str]
    timestamp: str
    run_id: str
    previous_hash: str
    algorithm: str = ALGORITHM
    chain_hash: str = ""

    def sealed(self) -> "Certificate":
        """The certificate with its hash."""
        return replace(self, chain_hash=chain_hash(self))

    def to_dict(self) -> dict[str, Any]:
        """The certificate as a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Certificate":
        """Read a JSON object. Raises TypeError if a member is missing or unknown."""
        return cls(**document)


def chain_hash(certificate: Certificate) -> str:
    """The hash of a certificate. It includes the previous hash, and so depends on all earlier certificates."""
    return sha256(_canonical(certificate)).hexdigest()


def _canonical(certificate: Certificate) -> bytes:
    invariants = sorted((name, "pass" if passed else "fail") for name, passed in certificate.invariants.items())
    thresholds = sorted(certificate.materiality_thresholds.items())
    texts = [
        *(DOMAIN, certificate.algorithm, certificate.certificate_id),
        *(certificate.source_state_hash, certificate.target_state_hash, certificate.contract_version),
        *(str(len(invariants)), *(text for pair in invariants for text in pair)),
        *(str(len(thresholds)), *(text for pair in thresholds for text in pair)),
        *(certificate.timestamp, certificate.run_id, certificate.previous_hash),
    ]
    return b"".join(b"%d:%s" % (len(data), data) for data in (text.encode() for text in texts))


class ChainFault(Enum):
    """Why a link of a chain is bad."""

    ALTERED = verdicts.CERTIFICATE_ALTERED
    UNKNOWN_ALGORITHM = verdicts.CERTIFICATE_UNKNOWN_ALGORITHM
    GAP = verdicts.CERTIFICATE_GAP
    FORK = verdicts.CERTIFICATE_FORK
    REORDERED = verdicts.CERTIFICATE_REORDERED
    TRUNCATED = verdicts.CERTIFICATE_TRUNCATED


@dataclass(frozen=True)
class Finding:
    """The first bad link: its position in the chain, counted from 0, and the fault."""

    position: int
    certificate_id: str | None
    fault: ChainFault


def verify(chain: Sequence[Certificate], previous: str = GENESIS, head: str | None = None) -> Finding | None:
    """The first bad link of a chain that continues `previous`, or None. If it ends before `head`, it is truncated."""
    positions = {certificate.chain_hash: position for position, certificate in enumerate(chain)}
    for position, certificate in enumerate(chain):
        if fault := _link_fault(certificate, previous, position, positions):
            return Finding(position, certificate.certificate_id, fault)
        previous = certificate.chain_hash
    if head is not None and previous != head:
        return Finding(len(chain), None, ChainFault.TRUNCATED)
    return None


def faults(certificates: Sequence[Certificate]) -> list[ChainFault | None]:
    """The fault of each certificate of a set, in any order; None for the genuine ones.

    Each chain begins at GENESIS, and there may be several. The view `certificate_checks` has the same rules in SQL.
    """
    sound = {certificate.chain_hash: certificate for certificate in certificates if not _hash_fault(certificate)}
    followers = Counter(certificate.previous_hash for certificate in sound.values())

    def fault(certificate: Certificate) -> ChainFault | None:
        if found := _hash_fault(certificate):
            return found
        if certificate.previous_hash == GENESIS:
            return None
        previous = sound.get(certificate.previous_hash)
        if previous is None:
            return ChainFault.GAP
        if followers[certificate.previous_hash] > 1:
            return ChainFault.FORK
        issued, issued_before = _instant(certificate.timestamp), _instant(previous.timestamp)
        return ChainFault.REORDERED if issued and issued_before and issued < issued_before else None

    return [fault(certificate) for certificate in certificates]


def _hash_fault(certificate: Certificate) -> ChainFault | None:
    """The fault that a certificate's own hash shows."""
    if certificate.algorithm != ALGORITHM:
        return ChainFault.UNKNOWN_ALGORITHM
    return None if chain_hash(certificate) == certificate.chain_hash else ChainFault.ALTERED


def _link_fault(
    certificate: Certificate, expected: str, position: int, positions: Mapping[str, int]
) -> ChainFault | None:
    if found := _hash_fault(certificate):
        return found
    if certificate.previous_hash == expected:
        return None
    if certificate.previous_hash == GENESIS:
        return ChainFault.FORK
    previous = positions.get(certificate.previous_hash)
    if previous is None:
        return ChainFault.GAP
    return ChainFault.REORDERED if previous >= position else ChainFault.FORK


def _instant(timestamp: str) -> datetime | None:
    try:
        return parse_instant(timestamp)
    except (ValueError, IndexError):
        return None
