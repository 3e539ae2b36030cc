"""Work directories in which the pipelines have run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lineproof.producers.pipelines import database
from lineproof.producers.pipelines.platform import Platform
from tests.unit.producers.pipelines.world import FAULTS, World, run_with_fault


@pytest.fixture(scope="package", autouse=True)
def _no_lock_wait() -> Iterator[None]:
    """Do not wait for the database lock: in these tests nobody releases it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "LOCK_TIMEOUT_S", 0.0)
        yield


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(scope="package")
def finished(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A work directory in which all pipelines have run once. Do not change it."""
    world = World(tmp_path_factory.mktemp("finished"))
    assert [result.state for result in world.run()] == ["COMPLETE"] * 12
    return world


@pytest.fixture(scope="package")
def unlucky(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A work directory in which every pipeline has met all of its faults. Do not change it."""
    world = World(tmp_path_factory.mktemp("unlucky"))
    world.run()
    with Platform(world.directory, world.emitter) as platform:
        for name, fault in FAULTS:
            run_with_fault(platform, name, fault)
        world.api_key = platform.apis.key
    return world
