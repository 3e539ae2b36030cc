"""Certificates and their chains, gaps, dead letters and defects."""

import shlex
from typing import Any

import pytest

from lineproof.schemas.reasons import Reason
from lineproof.serving.answers.certificates import certificates, chains, link
from lineproof.serving.answers.dead_letters import dead_letter_reasons, dead_letters, escaped
from lineproof.serving.answers.defects import defects
from lineproof.serving.answers.gaps import gaps
from lineproof.serving.answers.ledgers import ledgers
from lineproof.serving.answers.paging import Paging
from lineproof.serving.open_tables import TableSet
from tests.streaming.story import REPORT
from tests.unit.serving.answers.world import RESOLVED, UNBALANCED

ALL = Paging(limit=1000)


def test_ledgers(tables: TableSet) -> None:
    found = {one.run_id: one for one in ledgers(tables, None, None, None, ALL).items}
    assert set(found) == {UNBALANCED, RESOLVED, REPORT}
    assert (found[UNBALANCED].is_violation, found[RESOLVED].is_violation) == (True, False)
    assert [one.run_id for one in ledgers(tables, "unbalanced", "faults", "job", ALL).items] == [UNBALANCED]


def test_certificates_by_verdict(tables: TableSet) -> None:
    found = certificates(tables, None, None, ALL).items
    assert {one.verdict for one in found} == {"genuine", "altered", "fork", "gap", "unknown algorithm"}
    assert certificates(tables, "fork", None, ALL).items == [one for one in found if one.verdict == "fork"]


def test_chains_follow_the_links_and_count_unknown_apart(tables: TableSet) -> None:
    found = chains(tables, ALL).items
    faulty = found[0]
    assert [one.certificate_id for one in faulty.certificates] == [f"certificate-{number}" for number in range(20, 25)]
    altered = faulty.certificates[2]
    assert altered.verdict == "altered"
    assert altered.chain_hash != altered.computed_hash
    assert faulty.length == faulty.genuine + faulty.broken + faulty.unknown == 5
    assert sum(one.unknown for one in found) == 3  # two without the one before: an altered one proves nothing
    assert all(one.is_complete for one in found)
    assert sum(one.length for one in found) == tables.scalar("SELECT count(*) FROM certificates")


def certificate(key: str, previous: str) -> dict[str, Any]:
    return {"certificate_key": key, "chain_hash": key, "previous_hash": previous}


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({"a": "0" * 64, "b": "a", "c": "b"}, [["a", "b", "c"]]),
        ({"c": "b", "b": "a", "a": "0" * 64}, [["a", "b", "c"]]),
        ({"a": "0" * 64, "b": "a", "fork": "a", "d": "fork"}, [["a", "b"], ["fork", "d"]]),
        ({"a": "missing", "b": "a"}, [["a", "b"]]),
        ({"a": "b", "b": "a"}, [["a", "b"]]),
        ({"a": "a"}, [["a"]]),
        ({}, []),
    ],
)
def test_links(links: dict[str, str], expected: list[list[str]]) -> None:
    found = link([certificate(key, previous) for key, previous in links.items()])
    assert [[row["certificate_key"] for row in chain] for chain in found] == expected


def test_certificates_without_hashes_are_chains_of_their_own() -> None:
    rows = [{"certificate_key": str(n), "chain_hash": None, "previous_hash": None} for n in range(3)]
    assert [len(chain) for chain in link(rows)] == [1, 1, 1]


def test_gaps(tables: TableSet) -> None:
    found = gaps(tables)
    assert [(one.topic, one.first, one.last, one.cause) for one in found.archive if one.topic == "t"] == [
        ("t", 0, 2, "before the first read"),
        ("t", 3, 5, "lost"),
    ]
    [emitter] = found.emitters
    assert (emitter.first_missing, emitter.last_missing, emitter.missing, emitter.extent) == (1, 2, 2, [0, 3])
    assert found.is_complete


def test_dead_letters(tables: TableSet) -> None:
    found = {one.offset: one for one in dead_letters(tables, None, None, ALL).items}
    assert (found[0].meaning, found[0].remedy) == (Reason.INVALID_JSON.meaning, Reason.INVALID_JSON.remedy)
    assert (found[0].key_text, found[0].value_text) == ("k", "{\\x00\\xff<script>")
    assert (found[0].redriven_as, found[0].redriven_reason) == ("lineage.events/1/102", None)
    assert found[0].redrive == "lineproof dead-letters redrive lineage.events/1/0"
    assert (found[1].meaning, found[1].value_text, found[1].redriven_as) == ("of_a_newer_release", None, None)
    assert [one.offset for one in dead_letters(tables, "invalid_json", None, ALL).items] == [0]
    assert [(one.reason, one.records) for one in dead_letter_reasons(tables).items] == [
        ("invalid_json", 1),
        ("of_a_newer_release", 1),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (b"", ""),
        ("😀 ä\n".encode(), "😀 ä\n"),
        (b"\x1b[31m", "\\x1b[31m"),
        ("\u202egnp".encode(), "\\u202egnp"),
        (b"\xff\xfe", "\\xff\\xfe"),
    ],
)
def test_bytes_as_text(value: bytes | None, text: str | None) -> None:
    assert escaped(value) == text


def test_the_command_that_redrives_takes_the_record_as_one_word(tables: TableSet) -> None:
    for one in dead_letters(tables, None, None, ALL).items:
        assert shlex.split(one.redrive)[3:] == [one.record]


def test_defects(tables: TableSet) -> None:
    found = {one.defect: one for one in defects(tables, ALL).items}
    assert set(found) == {"bad_count", "of_a_newer_release"}
    assert (found["bad_count"].events, found["bad_count"].example) == (1, "{}")
    assert "Upgrade" in found["of_a_newer_release"].remedy


def test_an_empty_installation(empty: TableSet) -> None:
    assert (gaps(empty).archive, gaps(empty).emitters, dead_letter_reasons(empty).items) == ([], [], [])
