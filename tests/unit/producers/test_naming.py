"""Namespaces and job names: stable names are valid, others raise with advice."""

import string
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openlineage.client.uuid import generate_new_uuid

from lineproof.producers.naming import (
    MAX_JOB_NAME,
    InvalidName,
    NamespaceMode,
    check_job_name,
    check_namespace,
    namespace,
)

SIMPLE, CENTRALIZED, DATA_MESH = NamespaceMode.SIMPLE, NamespaceMode.CENTRALIZED, NamespaceMode.DATA_MESH

parts = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=40)
words = st.text(string.ascii_letters, min_size=1, max_size=11)
moments = st.datetimes(datetime(1980, 1, 1), datetime(2060, 1, 1)).map(lambda at: at.replace(tzinfo=timezone.utc))


@given(product=parts, domain=parts, mode=st.sampled_from(NamespaceMode))
def test_a_valid_namespace_is_built_and_accepted(product: str, domain: str, mode: NamespaceMode) -> None:
    """In all three modes."""
    made = namespace(mode, product, domain if mode is DATA_MESH else None)
    assert made == (f"{domain}.{product}" if mode is DATA_MESH else product)
    assert check_namespace(made, mode) == made


@given(text=st.text(string.ascii_letters + "0-_..é/ \n", max_size=6), mode=st.sampled_from(NamespaceMode))
def test_valid_namespaces_have_letters_digits_dashes_and_underscores(text: str, mode: NamespaceMode) -> None:
    """A dot is allowed only as the separator of a data mesh."""
    with suppress(InvalidName):
        assert check_namespace(text, mode) == text
        parts = text.split(".") if mode is DATA_MESH else [text]
        assert len(parts) == (2 if mode is DATA_MESH else 1)
        assert all(part and set(part) <= set(string.ascii_letters + string.digits + "-_") for part in parts)


@pytest.mark.parametrize(
    ("text", "mode", "wrong", "remedy"),
    [
        ("impact reports!", SIMPLE, "contains ' ', '!'", "for example impact-reports."),
        ("Café München", CENTRALIZED, "contains 'é', ' ', 'ü'", "for example Cafe-Munchen."),
        ("impact.reports", SIMPLE, "contains '.'", "for example impact-reports. Only the mode data_mesh allows"),
        ("impact.re.ports", DATA_MESH, "product 're.ports'", "for example re-ports. Only the mode data_mesh allows"),
        ("impact/eu.reports", DATA_MESH, "domain 'impact/eu'", "for example impact-eu."),
        ("reports", DATA_MESH, "has no domain", "DOMAIN.reports"),
        ("impact.", DATA_MESH, "product of the namespace is empty", "Set the product"),
        (".reports", DATA_MESH, "domain of the namespace is empty", "Set the domain"),
        ("", DATA_MESH, "domain of the namespace is empty", "Set the domain"),
        ("", SIMPLE, "product of the namespace is empty", "Set the product"),
        ("reports\n", SIMPLE, r"contains '\n'", "for example reports."),
        ("报告", SIMPLE, "contains '报', '告'", "for example impact-reports."),
    ],
)
def test_an_invalid_namespace_raises_with_advice(text: str, mode: NamespaceMode, wrong: str, remedy: str) -> None:
    """The error says what to change."""
    with pytest.raises(InvalidName) as error:
        check_namespace(text, mode)
    assert wrong in error.value.what
    assert remedy in error.value.remedy
    assert error.value.exit_code == 2


@given(text=st.text(min_size=1, max_size=30))
def test_the_suggested_name_is_valid(text: str) -> None:
    try:
        namespace(SIMPLE, text)
    except InvalidName as error:
        proposed = error.remedy.partition("for example ")[2].partition(".")[0]
        assert check_namespace(proposed, SIMPLE) == proposed


@pytest.mark.parametrize("mode", [SIMPLE, CENTRALIZED])
def test_a_domain_raises_in_modes_without_domains(mode: NamespaceMode) -> None:
    with pytest.raises(InvalidName, match=f"A {mode.value} namespace is the product alone"):
        namespace(mode, "reports", "impact")


@pytest.mark.parametrize(
    "name",
    [
        *("q2q-transformation", "report_v2", "sroi-2", "step-1.2", "load_area51", "h3-index-r9", "sales_2024"),
        *("sroi 2019-2020", "tool-2024.1.5", "iso-8601-check", "spark.execute_insert.crm_donors", "dag.task/1"),
        *("port-5432", "postcode_123456", "account_123456789012", "zip-20500", "v10.11.12", "load-1-2-3", "rfc2822"),
        *(
            "decade-defaced-facade",
            "deadbeef",
            "deadbeeffeed",
            "1a2b3c4",
            "model-7b",
            "kpi_100000",
            "f1-2024",
            "Ünïcode Namé",
            "报告",
        ),
        *("order-3141592653", "x-19991399", "quarter-q1", "week-w05", "ratio-1:2", "sha256", "x" * MAX_JOB_NAME),
    ],
)
def test_a_stable_job_name_is_valid(name: str) -> None:
    """Names that do not change are accepted as they are."""
    assert check_job_name(name) == name


@pytest.mark.parametrize(
    ("name", "part", "what"),
    [
        ("load-2024-01-31", "2024-01-31", "a date"),
        ("load_2024_01_31_full", "2024_01_31", "a date"),
        ("load/2024/1/5", "2024/1/5", "a date"),
        ("load.2024.01.31", "2024.01.31", "a date"),
        ("load20240131", "20240131", "a date"),
        ("load-20240131T101500Z", "20240131", "a date"),
        ("load-202401311015", "202401311015", "a date"),
        ("load-20240131101500", "20240131101500", "a Unix timestamp or an id"),
        ("load-31.01.2024", "31.01.2024", "a date, day or month first"),
        ("load 01-31-2024", "01-31-2024", "a date, day or month first"),
        ("load-2024-01", "2024-01", "a month, quarter or week"),
        ("load-2024-W05", "2024-W05", "a month, quarter or week"),
        ("load_2024q1", "2024q1", "a month, quarter or week"),
        ("load at 10:15", "10:15", "a time"),
        ("load-1706659200", "1706659200", "a Unix timestamp or an id"),
        ("load1706659200123", "1706659200123", "a Unix timestamp or an id"),
        ("load-0192a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "0192a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "a UUID"),
        ("load-4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4736", "a run id"),
        ("load-9fceb02d0ae5.x", "9fceb02d0ae5", "a run id"),
        ("load-01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "a run id"),
    ],
)
def test_a_job_name_with_a_time_or_an_id_raises(name: str, part: str, what: str) -> None:
    """Names must not contain anything that differs from run to run."""
    with pytest.raises(InvalidName) as error:
        check_job_name(name)
    assert f"contains {part!r}, which looks like {what}:" in error.value.what
    assert "nominalTime" in error.value.remedy


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "is empty"),
        (" load", "begins or ends with whitespace"),
        ("load\n", "begins or ends with whitespace"),
        ("lo\x00ad", r"contains '\x00'"),
        ("lo\u202ead", r"contains '\u202e'"),
        ("lo\ud800ad", r"contains '\ud800'"),
        ("x" * (MAX_JOB_NAME + 1), f"has {MAX_JOB_NAME + 1} characters"),
    ],
)
def test_a_job_name_that_is_not_printable_raises(name: str, problem: str) -> None:
    with pytest.raises(InvalidName) as error:
        check_job_name(name)
    assert problem in error.value.what


@given(st.lists(st.one_of(words, st.integers(0, 9999).map(lambda n: f"v{n}")), min_size=1, max_size=5), st.data())
def test_words_and_small_numbers_are_valid(chosen: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from("-_./")).join(chosen)
    assert check_job_name(name) == name


TIMES: list[Callable[[datetime], str]] = [
    lambda at: at.isoformat(),
    lambda at: at.strftime("%Y-%m-%d"),
    lambda at: at.strftime("%Y%m%d"),
    lambda at: at.strftime("%Y%m%d%H%M%S"),
    lambda at: at.strftime("%Y%m%dT%H%M%SZ"),
    lambda at: at.strftime("%Y_%m_%d-%H_%M"),
    lambda at: at.strftime("%d.%m.%Y"),
    lambda at: at.strftime("%m/%d/%Y"),
    lambda at: at.strftime("%G-W%V"),
    lambda at: at.strftime("%H:%M:%S"),
    lambda at: f"{at.year}-{at.month}-{at.day}",
    lambda at: str(int(at.timestamp() * 1000) + 10**12),
    lambda at: str(int(at.timestamp()) % 10**9 + 10**9),
]


@given(
    before=words, at=moments, form=st.sampled_from(TIMES), separator=st.sampled_from(["", "-", "_", "."]), after=words
)
def test_times_in_any_format_raise(
    before: str, at: datetime, form: Callable[[datetime], str], separator: str, after: str
) -> None:
    with pytest.raises(InvalidName, match="looks like"):
        check_job_name(f"{before}{separator}{form(at)}-{after}")


@given(before=words, identity=st.uuids(), form=st.sampled_from([str, lambda identity: identity.hex]))
def test_uuids_raise(before: str, identity: uuid.UUID, form: Callable[[uuid.UUID], str]) -> None:
    for name in (f"{before}-{form(identity)}", f"{before}{form(identity)}".upper()):
        with pytest.raises(InvalidName, match="looks like"):
            check_job_name(name)


def test_run_ids_of_this_emitter_raise() -> None:
    with pytest.raises(InvalidName, match="a UUID"):
        check_job_name(f"load-{generate_new_uuid()}")
