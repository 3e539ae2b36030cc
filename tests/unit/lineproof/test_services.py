"""What `up` refuses before it starts a process."""

import os
from pathlib import Path

import pytest

from lineproof.local.services import Service, ServiceError, refuse_if_running, up
from lineproof.settings import Settings


def test_a_configured_broker_is_not_silently_ignored(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, kafka={"bootstrap.servers": "kafka:9092"})
    with pytest.raises(ServiceError, match="lineproof job"):
        up(settings, print, print)


@pytest.mark.parametrize("content", ["", "no number", "999999999", pytest.param(str(os.getpid()), id="ours")])
def test_a_stale_state_file_is_not_a_running_service(tmp_path: Path, content: str) -> None:
    """The last case is the pid of a running process that is not a service: this test."""
    (tmp_path / "up.pid").write_text(content)
    refuse_if_running(Service(tmp_path))
