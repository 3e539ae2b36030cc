"""The SQL of the views uses the words of `schemas/verdicts.py`."""

import re

import pytest

from lineproof.schemas import verdicts
from lineproof.schemas.certificates import ALGORITHM, GENESIS
from lineproof.schemas.views import view_sql

WORDS = {
    "certificate_hashes": {*verdicts.HASH_VERDICTS},
    "certificate_checks": {
        *(verdicts.CERTIFICATE_INTACT, verdicts.CERTIFICATE_GENUINE, verdicts.CERTIFICATE_GAP),
        *(verdicts.CERTIFICATE_FORK, verdicts.CERTIFICATE_REORDERED),
    },
    "quality_violations": {verdicts.TEST_FAILED, verdicts.TEST_NOT_RUN},
}


@pytest.mark.parametrize("view", WORDS)
def test_a_view_has_no_other_verdicts(view: str) -> None:
    words = re.findall(r"(?:THEN|ELSE|hash_verdict (?:=|<>)) '([^']+)'", view_sql(view))
    assert {*words} == WORDS[view]


def test_the_sql_has_the_algorithm_and_the_first_hash() -> None:
    assert f"'{ALGORITHM}'" in view_sql("certificate_hashes")
    assert "repeat('0', 64)" in view_sql("certificate_checks")
    assert GENESIS == "0" * 64


def test_a_ledger_is_a_violation_unless_it_is_balanced() -> None:
    assert f"ledger_verdict <> '{verdicts.LEDGER_BALANCED}'" in view_sql("ledger_checks")
