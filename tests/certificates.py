"""Certificates made for tests."""

from dataclasses import replace

from lineproof.producers.certificates import GENESIS, Certificate


def draft(number: int) -> Certificate:
    """One that is not sealed yet."""
    return Certificate(
        certificate_id=f"certificate-{number}",
        source_state_hash=f"source-{number}",
        target_state_hash=f"target-{number}",
        contract_version="1.0",
        invariants={"rows add up": True, "keys are unique": number % 7 != 0},
        materiality_thresholds={"rows": "0.001"},
        timestamp="2026-01-31T10:00:00Z",
        run_id=f"run-{number}",
        previous_hash="",
    )


def chain_of(length: int) -> list[Certificate]:
    """A chain that holds, a second between two links."""
    links: list[Certificate] = []
    for number in range(length):
        previous = links[-1].chain_hash if links else GENESIS
        link = replace(draft(number), timestamp=f"2026-01-31T10:00:{number:02}Z", previous_hash=previous)
        links.append(link.sealed())
    return links
