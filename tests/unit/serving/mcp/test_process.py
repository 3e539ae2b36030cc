"""The process: nothing but protocol on stdout, and an orderly end."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.serving.mcp.session import DEADLINE_S, raw

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}


def send(process: "subprocess.Popen[bytes]", *messages: Any) -> None:
    assert process.stdin
    for message in messages:
        process.stdin.write((message if isinstance(message, str) else json.dumps(message)).encode() + b"\n")
    process.stdin.flush()


def receive(process: "subprocess.Popen[bytes]", *numbers: int) -> list[dict[str, Any]]:
    """The answers with these ids, which come in any order. Every line is protocol."""
    assert process.stdout
    found: dict[int, dict[str, Any]] = {}
    while not found.keys() >= {*numbers}:
        message: dict[str, Any] = json.loads(process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        if "id" in message:
            found[message["id"]] = message
    return [found[number] for number in numbers]


def ask(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def started(world: Path, home: Path) -> "subprocess.Popen[bytes]":
    process = raw(world, home)
    send(process, HELLO)
    [hello] = receive(process, 1)
    assert hello["result"]["serverInfo"]["name"] == "lineproof"
    send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return process


def test_the_end_of_stdin_ends_it(world: Path, tmp_path: Path) -> None:
    process = started(world, tmp_path)
    send(process, ask(2, "sql", query="SELECT 1 AS one"), "garbage", ask(3, "no_such_tool"), ask(4, "violations"))
    rows, unknown, violations = receive(process, 2, 3, 4)
    assert '"one"' in rows["result"]["content"][0]["text"]
    assert "error" in unknown or unknown["result"]["isError"]
    assert violations["result"]
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert b"Traceback" not in err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(number: signal.Signals, world: Path, tmp_path: Path) -> None:
    process = started(world, tmp_path)
    send(process, ask(2, "sql", query="SELECT 1"))
    receive(process, 2)
    process.send_signal(number)
    assert process.wait(DEADLINE_S) == 128 + number
    assert process.stderr
    assert process.stderr.read() == b""
    assert [*tmp_path.iterdir()] == []
    process.communicate()


def test_a_signal_during_a_query_ends_it(world: Path, tmp_path: Path) -> None:
    process = started(world, tmp_path)
    send(process, ask(2, "sql", query="SELECT count(*) FROM range(1000000000000)"), ask(3, "violations"))
    receive(process, 3)
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE_S) == 130
    process.communicate()


def test_without_a_client_it_waits_and_ends(world: Path, tmp_path: Path) -> None:
    process = raw(world, tmp_path)
    out, _ = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, out) == (0, b"")
