"""Delivery to an endpoint that is a file."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.spool import Spool
from tests.delivery import Deliver, Endpoint, Hanging, Sender


@pytest.fixture
def endpoint(tmp_path: Path) -> Endpoint:
    return Endpoint(tmp_path)


@pytest.fixture
def deliver(tmp_path: Path, endpoint: Endpoint) -> Iterator[Deliver]:
    """Creates deliveries on one spool, and closes them."""
    made: list[Delivery] = []

    def make(sender: Callable[[Endpoint], Sender] = Sender, max_bytes: int = 2**30) -> Delivery:
        made.append(Delivery(Spool(tmp_path / "spool", max_bytes), partial(sender, endpoint)))
        return made[-1]

    yield make
    Hanging.released.set()
    for delivery in made:
        delivery.close(0)
    Hanging.released.clear()
