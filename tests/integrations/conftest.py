"""Progress of the slow steps of these tests."""

from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def say(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print a line at once, although pytest captures output."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    assert capture is not None

    def print_now(line: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{line}", flush=True)

    return print_now
