"""Tables for tests of answers."""

from pathlib import Path

import pytest

from lineproof.serving.open_tables import OpenTables, TableSet
from tests.tables import make_tables
from tests.unit.serving.answers.world import make_world


@pytest.fixture(scope="package")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables with something of everything."""
    return make_world(tmp_path_factory.mktemp("world") / "tables")


@pytest.fixture(scope="package")
def tables(directory: Path) -> TableSet:
    """The same, open."""
    return OpenTables(str(directory)).now()


@pytest.fixture(scope="package", params=["no directory", "no tables", "no rows"])
def empty(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TableSet:
    """An installation in which nothing has arrived yet."""
    home = tmp_path_factory.mktemp("empty") / "tables"
    if request.param != "no directory":
        home.mkdir()
    if request.param == "no rows":
        make_tables(home)
    return OpenTables(str(home)).now()
