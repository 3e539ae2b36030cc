"""Tables for conversations, and a server over them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.serving.answers.world import make_world
from tests.unit.serving.mcp.session import Asker, conversation


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables with lineage, hostile names and faults."""
    return make_world(tmp_path_factory.mktemp("world") / "tables")


@pytest.fixture(scope="package")
def asker(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """Asks one server, which all tests share."""
    with conversation(world, tmp_path_factory.mktemp("home")) as found:
        yield found
