"""Certificates made for tests."""

from lineproof.producers.certificates import Certificate


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
