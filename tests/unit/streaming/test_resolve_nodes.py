"""Chains and cycles of symlinks."""

from itertools import pairwise
from random import Random

import pytest

from lineproof.streaming.stages.resolve_nodes import Name, resolve_nodes


def name(label: str) -> Name:
    return "n", label


@pytest.mark.parametrize(
    ("pointers", "expected"),
    [
        ({}, {}),
        ({"a": "b"}, {"a": "b"}),
        ({"a": "b", "b": "c"}, {"a": "c", "b": "c"}),
        ({"b": "a", "a": "b"}, {"b": "a"}),
        ({"a": "a"}, {}),
        ({"z": "c", "c": "b", "b": "d", "d": "c"}, {"z": "b", "c": "b", "d": "b"}),
        ({"x": "common", "y": "common"}, {"x": "common", "y": "common"}),
    ],
    ids=["none", "one", "chain", "cycle", "itself", "chain into a cycle", "two to the same"],
)
def test_chains_are_followed_and_a_cycle_takes_its_smallest_name(
    pointers: dict[str, str], expected: dict[str, str]
) -> None:
    nodes = resolve_nodes({name(start): name(end) for start, end in pointers.items()})
    assert nodes == {name(start): name(end) for start, end in expected.items()}


def test_the_order_of_the_pointers_does_not_matter() -> None:
    chance = Random()
    pointers = {name(str(number)): name(str(chance.randrange(60))) for number in range(50)}
    expected = resolve_nodes(pointers)
    for _ in range(20):
        shuffled = list(pointers.items())
        chance.shuffle(shuffled)
        assert resolve_nodes(dict(shuffled)) == expected


class Counted(dict[Name, Name]):
    """Pointers that count how often they are followed."""

    followed = 0

    def __getitem__(self, key: Name) -> Name:
        self.followed += 1
        return super().__getitem__(key)


@pytest.mark.parametrize("is_backwards", [False, True])
def test_every_pointer_of_a_long_chain_is_followed_once(is_backwards: bool) -> None:
    chain = [("n", f"{number:05}") for number in range(20_001)]
    pairs = [*pairwise(chain)]
    pointers = Counted(reversed(pairs) if is_backwards else pairs)
    assert set(resolve_nodes(pointers).values()) == {chain[-1]}
    assert pointers.followed == len(pointers)
