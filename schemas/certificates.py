"""Fidelity certificates: a hash-linked chain, as pure functions on text and bytes.

A certificate's hash covers a domain tag, the algorithm's id, every field in a fixed order and the hash before it,
each as `LENGTH:TEXT` with the length in bytes, so that Spark SQL can compute the same bytes with `concat` and `sha2`.
Changing any certificate breaks every later hash.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import Any

from lineproof.schemas.openlineage import parse_instant

ALGORITHM = "lineproof-sha256-1"
GENESIS = "0" * 64
"""What the first certificate of a chain has for its previous hash."""

_DOMAIN = "lineproof/certificate"


@dataclass(frozen=True)
class Certificate:
    """What a run vouches for: from which state to which, under which contract, with which checks passed."""

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
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Certificate":
        """From JSON; raises TypeError where a member is missing or unknown."""
        return cls(**document)


def chain_hash(certificate: Certificate) -> str:
    """The hash of a certificate and, through the hash before it, of all before it."""
    return sha256(_canonical(certificate)).hexdigest()


def _canonical(certificate: Certificate) -> bytes:
    invariants = sorted((name, "pass" if passed else "fail") for name, passed in certificate.invariants.items())
    thresholds = sorted(certificate.materiality_thresholds.items())
    texts = [
        *(_DOMAIN, certificate.algorithm, certificate.certificate_id),
        *(certificate.source_state_hash, certificate.target_state_hash, certificate.contract_version),
        *(str(len(invariants)), *(text for pair in invariants for text in pair)),
        *(str(len(thresholds)), *(text for pair in thresholds for text in pair)),
        *(certificate.timestamp, certificate.run_id, certificate.previous_hash),
    ]
    return b"".join(b"%d:%s" % (len(data), data) for data in (text.encode() for text in texts))


class Fault(Enum):
    """What is wrong with a link."""

    ALTERED = "altered"
    UNKNOWN_ALGORITHM = "unknown algorithm"
    GAP = "gap"
    FORK = "fork"
    REORDERED = "reordered"
    TRUNCATED = "truncated"


@dataclass(frozen=True)
class Finding:
    """The first bad link: its place in the chain, counted from 0, and why."""

    position: int
    certificate_id: str | None
    fault: Fault


def verify(chain: Sequence[Certificate], previous: str = GENESIS, head: str | None = None) -> Finding | None:
    """The first bad link of a chain that continues `previous`, or None. One that stops before `head` is truncated."""
    places = {certificate.chain_hash: position for position, certificate in enumerate(chain)}
    for position, certificate in enumerate(chain):
        if fault := _fault(certificate, previous, position, places):
            return Finding(position, certificate.certificate_id, fault)
        previous = certificate.chain_hash
    if head is not None and previous != head:
        return Finding(len(chain), None, Fault.TRUNCATED)
    return None


def faults(certificates: Sequence[Certificate]) -> list[Fault | None]:
    """What is wrong with each of a set of certificates, in whatever order they came; None for the genuine ones.

    Each chain begins at GENESIS, and there may be several. The view `certificate_checks` says the same in SQL.
    """
    is_sound = [one.algorithm == ALGORITHM and chain_hash(one) == one.chain_hash for one in certificates]
    sound = {one.chain_hash: one for one, is_so in zip(certificates, is_sound, strict=True) if is_so}
    followers = Counter(one.previous_hash for one in sound.values())

    def fault(certificate: Certificate) -> Fault | None:
        if certificate.algorithm != ALGORITHM:
            return Fault.UNKNOWN_ALGORITHM
        if chain_hash(certificate) != certificate.chain_hash:
            return Fault.ALTERED
        if certificate.previous_hash == GENESIS:
            return None
        before = sound.get(certificate.previous_hash)
        if before is None:
            return Fault.GAP
        if followers[certificate.previous_hash] > 1:
            return Fault.FORK
        issued, issued_before = _instant(certificate.timestamp), _instant(before.timestamp)
        return Fault.REORDERED if issued and issued_before and issued < issued_before else None

    return [fault(one) for one in certificates]


def _instant(timestamp: str) -> datetime | None:
    try:
        return parse_instant(timestamp)
    except (ValueError, IndexError):
        return None


def _fault(certificate: Certificate, expected: str, position: int, places: Mapping[str, int]) -> Fault | None:
    if certificate.algorithm != ALGORITHM:
        return Fault.UNKNOWN_ALGORITHM
    if chain_hash(certificate) != certificate.chain_hash:
        return Fault.ALTERED
    if certificate.previous_hash == expected:
        return None
    if certificate.previous_hash == GENESIS:
        return Fault.FORK
    place = places.get(certificate.previous_hash)
    if place is None:
        return Fault.GAP
    return Fault.REORDERED if place >= position else Fault.FORK
