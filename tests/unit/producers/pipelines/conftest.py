"""Work directories in which the pipelines have run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lineproof.producers.pipelines import database
from lineproof.producers.pipelines.platform import Platform
from tests.unit.producers.pipelines.world import FAULTS, World, run_with_fault


@pytest.fixture(scope="package", autouse=True)
def _no_lock_wait() -> Iterator[None]:
    """Nobody gives a lock back in these tests, so nobody need wait for one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "LOCK_TIMEOUT_S", 0.0)
        yield


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(scope="package")
def finished(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world in which all pipelines have run once. Not to be changed."""
    world = World(tmp_path_factory.mktemp("finished"))
    assert [result.state for result in world.run()] == ["COMPLETE"] * 12
    return world


@pytest.fixture(scope="package")
def unlucky(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world in which every fault of every pipeline has struck. Not to be changed."""
    world = World(tmp_path_factory.mktemp("unlucky"))
    world.run()
    with Platform(world.directory, world.emitter) as platform:
        for name, fault in FAULTS:
            run_with_fault(platform, name, fault)
        world.api_key = platform.apis.key
    return world
