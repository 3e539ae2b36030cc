"""Parts of answers that are the same in many of them, written once: a graph of 3,000 nodes has megabytes of them."""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TypeVar

from lineproof.serving.api.marquez.values import Json
from lineproof.serving.open_tables import TableSet

MAX_PARTS = 20_000
"""More are not kept."""

Key = TypeVar("Key", bound=Hashable)


def written_parts(
    tables: TableSet,
    name: str,
    of: Collection[str],
    keys: Sequence[Key],
    write: Callable[[list[Key]], list[Json]],
) -> list[Json]:
    """The parts with these keys. `write` makes those that are not known, from the tables named in `of`."""
    known: dict[Key, Json] = tables.derived(f"marquez {name}", of, lambda _: {})
    found = {key: part for key in keys if (part := known.get(key)) is not None}
    missing = [key for key in keys if key not in found]
    made = dict(zip(missing, write(missing), strict=True)) if missing else {}
    if len(known) + len(made) > MAX_PARTS:
        known.clear()
    known.update(made)
    return [found.get(key) or made[key] for key in keys]
