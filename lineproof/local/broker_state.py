"""Where the embedded broker runs, as its directory records it.

Separate from `broker`, which starts it: a client that only needs the address must not load Java or JARs.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

HOST = "127.0.0.1"
MAIN_CLASS = "kafka.Kafka"

_FILE = "broker.json"


@dataclass(frozen=True)
class BrokerState:
    """What a later command needs to find the broker, and to start it on the same ports."""

    pid: int
    port: int
    controller_port: int

    @property
    def address(self) -> str:
        """The bootstrap servers."""
        return f"{HOST}:{self.port}"

    def process(self, directory: Path) -> psutil.Process | None:
        """The broker's process if it runs. Its pid alone may belong to another process by now."""
        try:
            process = psutil.Process(self.pid)
            is_broker = MAIN_CLASS in process.cmdline() and Path(process.cwd()) == directory.resolve()
        except psutil.Error:
            return None
        return process if is_broker else None


def read_state(directory: Path) -> BrokerState | None:
    """The state of the last broker that was started in this directory."""
    try:
        return BrokerState(**json.loads((directory / _FILE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_state(directory: Path, state: BrokerState) -> None:
    """Replace the file at once, so that no reader sees half of it."""
    draft = directory / f"{_FILE}.new"
    draft.write_text(json.dumps(asdict(state)))
    draft.replace(directory / _FILE)


def running_broker(directory: Path) -> psutil.Process | None:
    """The process of the broker in this directory, if it runs."""
    state = read_state(directory)
    return state.process(directory) if state else None


def broker_address(directory: Path) -> str | None:
    """The bootstrap servers of the broker in this directory, if it runs."""
    state = read_state(directory)
    return state.address if state and state.process(directory) else None
