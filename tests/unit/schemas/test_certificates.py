"""The chain of certificates: every change is found with the right fault; the file survives a kill and never forks."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from lineproof.producers.chain import BrokenChain, Chain
from lineproof.schemas.certificates import GENESIS, Certificate, ChainFault, Finding, chain_hash, verify
from tests.certificates import chain_of, draft

CHAIN = chain_of(50)
MUTATIONS: dict[str, Callable[[Any], Any]] = {
    "invariants": lambda value: {**value, "rows add up": not value["rows add up"]},
    "materiality_thresholds": lambda value: {**value, "rows": "0.002"},
}


def test_a_good_chain_has_no_fault() -> None:
    assert verify(CHAIN) is None
    assert verify(CHAIN, head=CHAIN[-1].chain_hash) is None
    assert verify([]) is None


@pytest.mark.parametrize("field", [field.name for field in fields(Certificate)])
def test_every_single_field_mutation_of_fifty_is_found(field: str) -> None:
    fault = ChainFault.UNKNOWN_ALGORITHM if field == "algorithm" else ChainFault.ALTERED
    for position, certificate in enumerate(CHAIN):
        mutated = MUTATIONS.get(field, lambda value: value + "x")(getattr(certificate, field))
        changed = [*CHAIN[:position], replace(certificate, **{field: mutated}), *CHAIN[position + 1 :]]
        assert verify(changed) == Finding(position, changed[position].certificate_id, fault)


def test_a_certificate_that_was_hashed_again_breaks_the_next_link() -> None:
    for position in range(len(CHAIN) - 1):
        forged = replace(CHAIN[position], run_id="another").sealed()
        changed = [*CHAIN[:position], forged, *CHAIN[position + 1 :]]
        assert verify(changed) == Finding(position + 1, CHAIN[position + 1].certificate_id, ChainFault.GAP)


def test_missing_moved_added_and_cut_off_links() -> None:
    forked = replace(draft(99), previous_hash=CHAIN[10].chain_hash).sealed()
    second_beginning = replace(draft(99), previous_hash=GENESIS).sealed()
    assert verify([*CHAIN[:20], *CHAIN[21:]]) == Finding(20, "certificate-21", ChainFault.GAP)
    assert verify(CHAIN[1:]) == Finding(0, "certificate-1", ChainFault.GAP)
    assert verify([*CHAIN[:20], CHAIN[21], CHAIN[20], *CHAIN[22:]]) == Finding(
        20, "certificate-21", ChainFault.REORDERED
    )
    assert verify([*CHAIN, forked]) == Finding(50, "certificate-99", ChainFault.FORK)
    assert verify([*CHAIN, second_beginning]) == Finding(50, "certificate-99", ChainFault.FORK)
    assert verify(CHAIN[:-1], head=CHAIN[-1].chain_hash) == Finding(49, None, ChainFault.TRUNCATED)


def test_the_hash_does_not_change() -> None:
    """If it changed, every existing chain would break."""
    known = "9b691c3b17c1523382062ada9bbac0e8a3a8221fc96639913297c5b9c8c0fb4d"
    assert chain_hash(replace(draft(1), previous_hash=GENESIS)) == known


def test_fields_cannot_run_into_each_other() -> None:
    left = replace(draft(1), source_state_hash="ab", target_state_hash="c")
    right = replace(draft(1), source_state_hash="a", target_state_hash="bc")
    assert chain_hash(left) != chain_hash(right)


def test_the_order_of_invariants_does_not_matter() -> None:
    certificate = draft(1)
    reordered = replace(certificate, invariants=dict(reversed([*certificate.invariants.items()])))
    assert chain_hash(certificate) == chain_hash(reordered)


def test_the_file_continues_the_chain(tmp_path: Path) -> None:
    for number in range(3):
        Chain(tmp_path / "chain.jsonl").append(draft(number))
    assert verify(Chain(tmp_path / "chain.jsonl").certificates()) is None
    assert len(Chain(tmp_path / "chain.jsonl").certificates()) == 3


def test_the_file_refuses_to_fork(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "chain.jsonl")
    first = chain.append(draft(0))
    chain.append(draft(1))
    with pytest.raises(BrokenChain, match="would fork"):
        chain.append(replace(draft(2), previous_hash=first.chain_hash))


def test_the_file_refuses_to_continue_what_was_altered(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "chain.jsonl")
    chain.append(draft(0))
    chain.append(draft(1))
    content = (tmp_path / "chain.jsonl").read_text()
    (tmp_path / "chain.jsonl").write_text(content.replace("run-0", "run-9"))
    with pytest.raises(BrokenChain, match="certificate-0: altered"):
        Chain(tmp_path / "chain.jsonl").append(draft(2))


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "chain.jsonl")
    chain.append(draft(0))
    with (tmp_path / "chain.jsonl").open("a") as file:
        file.write('{"certificate_id": "half')
    chain.append(draft(1))
    assert verify(chain.certificates()) is None
    assert len(chain.certificates()) == 2


WRITER = """
import sys
from pathlib import Path
from lineproof.producers.chain import Chain
from tests.certificates import chain_of, draft
chain = Chain(Path(sys.argv[1]))
for number in range(1000000):
    print(chain.append(draft(number)).chain_hash, flush=True)
"""


def test_two_killed_writers_leave_one_chain_with_every_printed_hash(tmp_path: Path) -> None:
    file = tmp_path / "chain.jsonl"
    root = Path(__file__).parents[3]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, file], stdout=subprocess.PIPE, text=True, cwd=root)
        for _ in range(2)
    ]
    printed: list[str] = []
    for writer in writers:
        assert writer.stdout
        printed += [writer.stdout.readline().strip() for _ in range(20)]
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        assert writer.stdout
        printed += writer.stdout.read().split()
        writer.wait()
    chain = Chain(file).certificates()
    assert verify(chain) is None
    assert {line for line in printed if len(line) == 64} <= {certificate.chain_hash for certificate in chain}
