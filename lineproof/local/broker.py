"""The embedded Kafka broker: one KRaft process on this machine, for first steps, tests and small installations.

All its files are in one directory, which can be moved while the broker is stopped: the JVM runs in that directory and
gets relative paths only.
"""

import base64
import fcntl
import re
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from lineproof.local.broker_state import (
    HOST,
    MAIN_CLASS,
    BrokerState,
    broker_address,
    read_state,
    running_broker,
    write_state,
)
from lineproof.local.jars import broker_classpath
from lineproof.local.java import find_java, log_options
from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.schemas.errors import LineproofError

_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "log.dirs": "data",
    "auto.create.topics.enable": "false",
    "message.max.bytes": str(MAX_RECORD_BYTES),
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # After a kill, the broker can register again only when its old session has expired: after 9 s by default.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}
_LISTS = ("listeners", "listener.security.protocol.map")

_POLL_S = 0.1
_MIN_FREE_BYTES = 10 * 1024 * 1024
_DISK_FULL = "No space left on device"
_IN_USE = "Failed to acquire lock on file"
_CAUSES = {
    _DISK_FULL: ("The disk is full.", "Free space, then start again."),
    _IN_USE: ("Another broker uses the directory.", "Stop it, or use another directory."),
    "Address already in use": ("Another program has taken its port.", "Start again: it then chooses a free port."),
    "Could not reserve enough space": (
        "There is too little free memory.",
        "Free about 1 GB, then start again.",
    ),
}
_ERROR_LINE = re.compile(r"^\S.*(\b(ERROR|FATAL|Error)\b|Exception)")  # not the frames of a stack trace


class BrokerError(LineproofError):
    """The embedded broker could not be started."""


class Broker:
    """A broker and its directory. Any process can start it, and any other can find and stop it."""

    def __init__(self, directory: Path, extra: Mapping[str, str] | None = None) -> None:
        """Use a directory of its own; `extra` are server properties to add or change.

        Listeners in `extra` are added to the plain listener, which the broker and lineproof itself use.
        """
        self._directory = directory.resolve()
        self._extra = dict(extra or {})
        self._log = self._directory / "broker.log"

    def address(self) -> str | None:
        """Return the bootstrap servers if the broker runs."""
        return broker_address(self._directory)

    def process(self) -> psutil.Process | None:
        """Return the broker's process if it runs."""
        return running_broker(self._directory)

    def start(self, timeout_s: float = 60) -> str:
        """Return the bootstrap servers of a broker that answers: of the running broker, or of a new one."""
        deadline = time.monotonic() + timeout_s
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            with (self._directory / "broker.lock").open("w") as lock:
                return self._attach(lock, deadline) or self._launch(lock, deadline)
        except OSError as error:
            raise self._error(str(error)) from error

    def stop(self, timeout_s: float = 30) -> None:
        """Stop the broker if it runs: with SIGTERM, then with SIGKILL."""
        process = self.process()
        if process is None:
            return
        with suppress(psutil.NoSuchProcess):
            process.terminate()
            try:
                process.wait(timeout_s)
            except psutil.TimeoutExpired:
                process.kill()
                process.wait(timeout_s)

    def _attach(self, lock: IO[str], deadline: float) -> str | None:
        """Return the address of the running broker, or None with the lock taken.

        The broker inherits the lock and holds it exactly as long as it runs. Kafka's own lock comes too late: a second
        broker damages the metadata log of the first before it finds the lock.
        """
        while not _acquire(lock):
            address = self.address()
            if address and _answers(address):
                return address
            if time.monotonic() > deadline:
                raise self._error("The running broker does not answer.", _IN_USE)
            time.sleep(_POLL_S)
        return None

    def _launch(self, lock: IO[str], deadline: float) -> str:
        previous = read_state(self._directory)
        port, controller_port = _free_ports((previous.port, previous.controller_port) if previous else (0, 0))
        self._write_properties(port, controller_port)
        if not (self._directory / "data" / "meta.properties").exists():
            self._format(deadline)
        log_start = self._log.stat().st_size if self._log.exists() else 0
        child = self._spawn(lock)
        try:
            state = BrokerState(child.pid, port, controller_port)
            write_state(self._directory, state)
            self._await(child, state.address, deadline, log_start)
        except BaseException:
            child.kill()
            child.wait()
            raise
        return state.address

    def _spawn(self, lock: IO[str]) -> subprocess.Popen[bytes]:
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._java(options, MAIN_CLASS, "server.properties"),
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                start_new_session=True,  # so that Ctrl-C in the terminal does not stop it
            )

    def _await(self, child: subprocess.Popen[bytes], address: str, deadline: float, log_start: int) -> None:
        while not _answers(address):
            if child.poll() is not None:
                raise self._error("It exited during startup.", self._log_since(log_start))
            if time.monotonic() > deadline:
                raise self._error("It did not answer in time.", self._log_since(log_start))
            time.sleep(_POLL_S)

    def _java(self, options: Sequence[str], *main: str) -> list[str]:
        logging = log_options(Path(self._log.name))
        return [str(find_java()), *options, *logging, "-cp", broker_classpath(), *main]

    def _write_properties(self, port: int, controller_port: int) -> None:
        properties = (
            _SETTINGS
            | self._extra
            | {
                "controller.quorum.voters": f"1@{HOST}:{controller_port}",
                "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            }
        )
        for name in _LISTS:
            if name in self._extra:
                properties[name] += f",{self._extra[name]}"
        lines = (f"{name}={value}\n" for name, value in properties.items())
        (self._directory / "server.properties").write_text("".join(lines))

    def _format(self, deadline: float) -> None:
        """Format the data directory. Its cluster id is written last, so a failed attempt is repeated."""
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        tool = [
            "kafka.tools.StorageTool",
            "format",
            f"--cluster-id={cluster}",
            "--config",
            "server.properties",
        ]
        try:
            done = subprocess.run(
                self._java(options, *tool),
                cwd=self._directory,
                capture_output=True,
                text=True,
                timeout=max(1, deadline - time.monotonic()),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._error("Formatting its data directory timed out.") from error
        if done.returncode != 0:
            raise self._error("Formatting its data directory failed.", done.stdout + done.stderr)

    def _log_since(self, start: int) -> str:
        with self._log.open("rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def _error(self, what: str, output: str = "") -> BrokerError:
        """Explain a failure from the broker's output and the free space: on a full disk, the log has no lines."""
        remedy = f"Its log is {self._log}."
        if self._directory.exists() and shutil.disk_usage(self._directory).free < _MIN_FREE_BYTES:
            output += f"\n{_DISK_FULL}"
        for words, (cause, action) in _CAUSES.items():
            if words in output or words in what:
                what, remedy = f"{cause} {what}", f"{action} {remedy}"
        errors = [line[:300] for line in output.splitlines() if _ERROR_LINE.search(line)]
        last_errors = "".join(f"\n  {line}" for line in errors[-3:])
        return BrokerError(f"The embedded broker in {self._directory} did not start. {what}{last_errors}", remedy)


def _free_ports(wanted: Sequence[int]) -> list[int]:
    """Return the wanted ports, each replaced by another free port if it is taken. 0 means any port."""
    with ExitStack() as held:
        return [_bind(held.enter_context(socket.socket()), port) for port in wanted]


def _bind(probe: socket.socket, port: int) -> int:
    # Connections of a stopped broker may linger on its port. They do not stop the next broker from using it.
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind((HOST, port))
    except OSError:
        probe.bind((HOST, 0))
    return int(probe.getsockname()[1])


def _acquire(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _answers(address: str) -> bool:
    """Whether a client can reach the cluster. It tries the port first: a client that cannot connect backs off."""
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
        client = AdminClient({"bootstrap.servers": address, "log_level": 0})
        return bool(client.list_topics(timeout=2).brokers)
    except (OSError, KafkaException):
        return False
