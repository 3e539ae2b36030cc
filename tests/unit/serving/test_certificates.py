"""Verify the certificates in the table without Spark: every fault is found, and a gap disappears when it is filled."""

from dataclasses import asdict, replace
from pathlib import Path

import pyarrow
import pytest
from deltalake import write_deltalake

from lineproof.schemas.certificates import GENESIS, Certificate, ChainFault, faults
from lineproof.serving.certificates import Report, verify_table
from tests.certificates import chain_of, draft


def verified(certificates: list[Certificate], directory: Path, head: str | None = None) -> Report:
    rows = [
        {
            **asdict(certificate),
            "certificate_key": str(number),
            "invariants": [{"name": name, "passed": passed} for name, passed in certificate.invariants.items()],
            "materiality_thresholds": [{"name": n, "value": v} for n, v in certificate.materiality_thresholds.items()],
        }
        for number, certificate in enumerate(certificates)
    ]
    write_deltalake(str(directory / "certificates"), pyarrow.Table.from_pylist(rows), mode="overwrite")
    return verify_table(str(directory), head)


def test_chains_that_hold(tmp_path: Path) -> None:
    """Several chains, in any order."""
    first, second = chain_of(5), [replace(draft(9), previous_hash=GENESIS).sealed()]
    report = verified([*reversed(first), *second], tmp_path, first[-1].chain_hash)
    assert (report.holds, report.text) == (True, "6 certificates, every link holds.")
    assert "truncated" in verified(first[:-1], tmp_path, first[-1].chain_hash).text


def test_a_gap_disappears_when_the_missing_certificate_arrives(tmp_path: Path) -> None:
    links = chain_of(5)
    assert verified([*links[:2], *links[3:]], tmp_path).text == "certificates: certificate-3 of run run-3: gap"
    assert verified(links, tmp_path).holds


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda link: replace(link, source_state_hash="x"), ChainFault.ALTERED),
        (lambda link: replace(link, invariants={**link.invariants, "rows add up": False}), ChainFault.ALTERED),
        (lambda link: replace(link, algorithm="md5"), ChainFault.UNKNOWN_ALGORITHM),
    ],
)
def test_a_changed_certificate_is_named(tmp_path: Path, change: object, fault: ChainFault) -> None:
    links = chain_of(5)
    links[2] = change(links[2])  # type: ignore[operator]
    report = verified(links, tmp_path)
    assert not report.holds
    assert report.text == f"certificates: certificate-2 of run run-2: {fault.value}, and 1 more"


def test_two_successors_are_a_fork_and_an_earlier_successor_is_reordered() -> None:
    links = chain_of(3)
    other = replace(links[2], contract_version="2").sealed()
    assert faults([*links, other]) == [None, None, ChainFault.FORK, ChainFault.FORK]
    early = replace(draft(8), timestamp="2020-01-01T00:00:00Z", previous_hash=links[2].chain_hash).sealed()
    assert faults([early, *links]) == [ChainFault.REORDERED, None, None, None]
