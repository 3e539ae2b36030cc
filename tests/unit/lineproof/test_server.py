"""The server's process: what it needs, and how it is found."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineproof.local.endpoints import is_free
from lineproof.local.server import ServerNotStarted, bind, serve
from lineproof.local.server_process import RunningServer, register, unregister
from lineproof.settings import Settings

WITHOUT_EXTRA = """
import sys
for name in ("anyio", "fastapi", "prometheus_client", "starlette", "uvicorn", "zstandard"):
    sys.modules[name] = None
from lineproof.cli.main import main
main(sys.argv[1:])
"""


def without_extra(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, *arguments], capture_output=True, text=True, check=False
    )


def test_without_its_packages_serve_says_what_to_install(tmp_path: Path) -> None:
    refused = without_extra("serve", f"--set=home={tmp_path}")
    assert refused.returncode == 1
    assert "pip install 'lineproof[server]'" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_keys_need_no_extra_packages(tmp_path: Path) -> None:
    added = without_extra("keys", "add", "a", f"--set=home={tmp_path}")
    assert added.returncode == 0, added.stderr
    assert added.stdout.startswith("lpk_")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_listening_beyond_this_machine_without_keys_is_refused(host: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, gateway={"host": host, "port": 0})
    with pytest.raises(ServerNotStarted, match="There are no keys"):
        serve(settings, print)


def test_a_port_that_is_taken_is_seen_before_anything_starts(tmp_path: Path) -> None:
    first = bind(Settings(home=tmp_path, gateway={"port": 0}))
    try:
        first.socket.listen()
        port = first.socket.getsockname()[1]
        assert not is_free("127.0.0.1", port)
        with pytest.raises(ServerNotStarted, match=f"cannot listen on 127.0.0.1:{port}"):
            bind(Settings(home=tmp_path, gateway={"port": port}))
    finally:
        first.socket.close()
    assert is_free("127.0.0.1", port)


def test_tls_needs_both_files() -> None:
    with pytest.raises(ValueError, match="TLS needs both"):
        Settings(gateway={"tls_key": "key.pem"})


def test_a_server_is_found_only_while_its_process_runs(tmp_path: Path) -> None:
    assert RunningServer.of(tmp_path) is None
    register(tmp_path, "http://127.0.0.1:1")
    assert RunningServer("http://127.0.0.1:1", os.getpid()).process() is None, "this process is no server"
    assert RunningServer.of(tmp_path) is None
    unregister(tmp_path)
    unregister(tmp_path)
