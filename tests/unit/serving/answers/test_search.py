"""Search: order of the hits, kinds, hostile texts."""

from pathlib import Path
from random import Random, randrange

import pytest

from lineproof.serving.answers.name_index import BEGINNING, EXACT, NAMESPACE, PART, WORD, NameIndex
from lineproof.serving.answers.search import search
from lineproof.serving.open_tables import TableSet
from lineproof.serving.sql import Tables
from tests.streaming.story import LOAD, WORLD
from tests.unit.serving.answers.world import HOSTILE

NAMED = ("orders", "orders_by_day", "daily orders", "reorders", "my.orders", "customers", "Orders")


def index(*names: str) -> NameIndex[str]:
    return NameIndex.of((name, "shop/orders" if name == "customers" else "n", name) for name in names)


def test_the_best_hits_come_first() -> None:
    found = [(hit.rank, name) for hit, name in index(*NAMED).find("ORDERS", 10)]
    assert found == [
        (EXACT, "orders"),
        (EXACT, "Orders"),
        (BEGINNING, "orders_by_day"),
        (WORD, "my.orders"),
        (WORD, "daily orders"),
        (PART, "reorders"),
        (NAMESPACE, "customers"),
    ]


def test_exact_names_are_found_among_many() -> None:
    names = [f"xx{number}x" for number in range(20_000)] + ["x"]
    assert next(name for _, name in index(*names).find("x", 3)) == "x"


@pytest.mark.parametrize("query", ["", " ", "\udfff", "no such name"])
def test_nothing_is_found(query: str) -> None:
    assert index(*NAMED).find(query, 10) == []
    assert NameIndex.of([]).find("a", 10) == []


def test_the_index_finds_what_a_look_at_each_name_finds() -> None:
    seed = randrange(2**32)
    print(f"seed {seed}")
    chance = Random(seed)
    names = ["".join(chance.choices("abß.İ ", k=chance.randrange(1, 7))) for _ in range(300)]
    made = NameIndex.of((name, "", str(number)) for number, name in enumerate(names))
    for _ in range(100):
        query = "".join(chance.choices("abß.İ", k=chance.randrange(1, 4)))
        expected = {str(number) for number, name in enumerate(names) if query.casefold() in name.casefold()}
        assert {item for _, item in made.find(query, 1000)} == expected, query


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_found(tables: TableSet, name: str) -> None:
    found = search(tables, name).items
    assert {(one.kind, one.name) for one in found} >= {("dataset", name), ("job", name), ("column", name)}
    assert all(one.href.startswith("#/") and "<" not in one.href for one in found)


def test_kinds_and_addresses(tables: TableSet, directory: Path) -> None:
    [job] = search(tables, "load", "job").items
    assert (job.kind, job.href) == ("job", f"#/job?namespace={WORLD}&name=load")
    [column] = search(tables, "amount", "column").items
    assert column.href == "#/dataset?namespace=s3%3A%2F%2Flake&name=clean&field=amount"
    [by_id] = search(tables, LOAD.upper()).items
    assert (by_id.kind, by_id.run_id, by_id.href) == ("run", LOAD, f"#/run?run_id={LOAD}")
    answer = search(tables, "load")
    assert Tables(str(directory)).query(answer.sql).rows


def test_an_empty_installation(empty: TableSet) -> None:
    assert search(empty, "anything").items == []
