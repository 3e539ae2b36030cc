"""Dead-letter reasons are a contract."""

from lineproof.schemas.reasons import Reason


def test_codes_are_distinct_words() -> None:
    codes = [reason.value for reason in Reason]
    assert len(set(codes)) == len(codes)
    assert all(code.isidentifier() and code.islower() for code in codes)


def test_every_reason_says_what_to_do() -> None:
    assert all(reason.meaning and reason.remedy.endswith(".") for reason in Reason)


def test_reasons_are_found_by_code() -> None:
    assert Reason.of("invalid_json") is Reason.INVALID_JSON
