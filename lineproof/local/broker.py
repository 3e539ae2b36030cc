"""The embedded Kafka: one KRaft process on this machine, for first steps, tests and small installations.

Everything it owns lies in one directory, which may be moved while it is stopped: the JVM runs inside that
directory and is told relative paths only.
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
    # A killed broker may only register again once its old session is over; the default makes that 9 s.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}
_LISTS = ("listeners", "listener.security.protocol.map")

_POLL_S = 0.1
_LEAST_FREE = 10 * 1024 * 1024
_DISK_FULL = "No space left on device"
_IN_USE = "Failed to acquire lock on file"
_CAUSES = {
    _DISK_FULL: ("The disk is full.", "Make room on it, then start again."),
    _IN_USE: ("Another broker is using the directory.", "Stop that one, or give each its own directory."),
    "Address already in use": ("Another program took its port.", "Start again: a free one is chosen then."),
    "Could not reserve enough space": (
        "There is too little free memory.",
        "Free about 1 GB, then start again.",
    ),
}
_TROUBLE = re.compile(r"^\S.*(\b(ERROR|FATAL|Error)\b|Exception)")  # not the frames of a stack trace


class BrokerError(LineproofError):
    """The embedded broker could not be started."""


class Broker:
    """A broker and its directory. Any process may start it; any other may find and stop it."""

    def __init__(self, directory: Path, extra: Mapping[str, str] | None = None) -> None:
        """Take a directory of its own, and server properties to add or change.

        Listeners in `extra` come beside the plain one, which stays for inter-broker use and for us.
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
        """Return the bootstrap servers of a broker that answers: the running one, or else a new one."""
        deadline = time.monotonic() + timeout_s
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            with (self._directory / "broker.lock").open("w") as lock:
                return self._attach(lock, deadline) or self._launch(lock, deadline)
        except OSError as error:
            raise self._error(str(error)) from error

    def stop(self, timeout_s: float = 30) -> None:
        """End the broker if it runs, gently first."""
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

        The broker inherits the lock and so holds it exactly as long as it lives. Kafka's own lock comes too
        late: a second broker has already damaged the metadata log of the first when it meets it.
        """
        while not _acquire(lock):
            address = self.address()
            if address and _answers(address):
                return address
            if time.monotonic() > deadline:
                raise self._error("The one that is there does not answer.", _IN_USE)
            time.sleep(_POLL_S)
        return None

    def _launch(self, lock: IO[str], deadline: float) -> str:
        former = read_state(self._directory)
        port, controller_port = _free_ports((former.port, former.controller_port) if former else (0, 0))
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
                start_new_session=True,  # Ctrl-C in the terminal is not meant for it
            )

    def _await(self, child: subprocess.Popen[bytes], address: str, deadline: float, log_start: int) -> None:
        while not _answers(address):
            if child.poll() is not None:
                raise self._error("It ended while starting.", self._log_since(log_start))
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
        """Give the data directory its cluster id. That is written last, so a failed attempt is repeated."""
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
            raise self._error("Its data directory could not be prepared in time.") from error
        if done.returncode != 0:
            raise self._error("Its data directory could not be prepared.", done.stdout + done.stderr)

    def _log_since(self, start: int) -> str:
        with self._log.open("rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def _error(self, what: str, said: str = "") -> BrokerError:
        """Explain a failure by what the broker said, and by the disk: a full one takes no log lines."""
        remedy = f"Its log is {self._log}."
        if self._directory.exists() and shutil.disk_usage(self._directory).free < _LEAST_FREE:
            said += f"\n{_DISK_FULL}"
        for sign, (cause, cure) in _CAUSES.items():
            if sign in said or sign in what:
                what, remedy = f"{cause} {what}", f"{cure} {remedy}"
        troubles = [line[:300] for line in said.splitlines() if _TROUBLE.search(line)]
        told = "".join(f"\n  {line}" for line in troubles[-3:])
        return BrokerError(f"The embedded broker in {self._directory} did not start. {what}{told}", remedy)


def _free_ports(wanted: Sequence[int]) -> list[int]:
    """Return a free port for each wanted one, that one if nobody has it; 0 wants any."""
    with ExitStack() as held:
        return [_bind(held.enter_context(socket.socket()), port) for port in wanted]


def _bind(probe: socket.socket, port: int) -> int:
    # Connections of a broker that just ended may linger on its port; they are no obstacle to the next one.
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
    """Return whether a client sees the cluster. Asked before the port is open, it would back off."""
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
        client = AdminClient({"bootstrap.servers": address, "log_level": 0})
        return bool(client.list_topics(timeout=2).brokers)
    except (OSError, KafkaException):
        return False
