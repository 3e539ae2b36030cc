"""`lineproof up` and `down`: the broker, the job and the gateway as one service on this machine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from lineproof.local.broker import Broker
from lineproof.local.job_config import NO_RECOVERY, Recovery
from lineproof.local.job_runner import run_job
from lineproof.local.logs import rotate_up_log, up_log
from lineproof.local.server_process import RunningServer, ServerFailed, can_serve, server_log, start_server
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings
from lineproof.streaming.run import Progress

BROKER_TIMEOUT_S = 10.0
REPORT_AFTER_S = 4.0
SPARK_MAIN_CLASS = "org.apache.spark.deploy.SparkSubmit"
"""In the command line of the JVM that PySpark starts."""


class ServiceError(LineproofError):
    """The service cannot be started or stopped."""


@dataclass(frozen=True)
class Service:
    """The process of `lineproof up`, found by its state file."""

    home: Path

    @property
    def _state(self) -> Path:
        return self.home / "up.pid"

    def process(self) -> psutil.Process | None:
        """The running service, if there is one. The pid in the file may belong to another process by now."""
        try:
            process = psutil.Process(int(self._state.read_text()))
            return process if "up" in process.cmdline() else None
        except (OSError, ValueError, psutil.Error):
            return None

    def register(self) -> None:
        """Record that this process is the service, and ready."""
        draft = self._state.with_suffix(".new")
        draft.write_text(str(os.getpid()))
        draft.replace(self._state)

    def unregister(self) -> None:
        """Record that the service has stopped."""
        self._state.unlink(missing_ok=True)


def up(
    settings: Settings,
    report: Callable[[Progress], None],
    started: Callable[[str], None],
    recovery: Recovery = NO_RECOVERY,
    say: Callable[[str], None] = lambda _: None,
    gateway: Sequence[str] | None = None,
) -> None:
    """Run broker, job and gateway until a signal stops them. `started` gets the broker's address.

    `gateway` has the arguments that select these settings for its process; None: no gateway.
    """
    refuse_foreign_broker(settings)
    service = Service(settings.home)
    refuse_if_running(service)
    settings.home.mkdir(parents=True, exist_ok=True)
    broker = Broker(settings.home / "broker")
    address = broker.start()

    def ready() -> None:
        if gateway is not None:
            _start_gateway(settings, gateway, say)
        service.register()
        started(address)

    def report_batch(batch: Progress) -> None:
        for log in (up_log(settings), server_log(settings)):
            rotate_up_log(log)
        report(batch)

    try:
        run_job(settings, create_topics=True, report=report_batch, started=ready, recovery=recovery, say=say)
    finally:
        service.unregister()
        _stop_gateway(settings)
        broker.stop(BROKER_TIMEOUT_S)


def up_detached(arguments: list[str], settings: Settings, timeout_s: float = 180) -> None:
    """Start `up` as a separate process, and wait until it is ready."""
    refuse_foreign_broker(settings)
    service = Service(settings.home)
    refuse_if_running(service)
    log = up_log(settings)
    log.parent.mkdir(parents=True, exist_ok=True)
    rotate_up_log(log)
    with log.open("ab") as output:
        begin = output.tell()
        child = subprocess.Popen(
            [sys.executable, "-m", "lineproof", "up", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    deadline = time.monotonic() + timeout_s
    while service.process() is None:
        if child.poll() is not None:
            printed = log.read_bytes()[begin:].decode(errors="replace").strip()
            raise ServiceError(f"The service did not start:\n{printed}", f"Its log is {log}.")
        if time.monotonic() > deadline:
            child.terminate()
            raise ServiceError(f"The service was not ready after {timeout_s:.0f} s.", f"Its log is {log}.")
        time.sleep(0.2)


def down(settings: Settings, report: Callable[[str], None] = lambda _: None, timeout_s: float = 60) -> bool:
    """Stop the service and the broker within the time; return whether anything was running."""
    deadline = time.monotonic() + timeout_s
    process = Service(settings.home).process()
    if process:
        _stop_job(process, timeout_s - BROKER_TIMEOUT_S, report)
    had_server = _stop_gateway(settings)
    broker = Broker(settings.home / "broker")
    had_broker = broker.address() is not None
    broker.stop(max(1.0, deadline - time.monotonic()))
    return bool(process) or had_server or had_broker


def _start_gateway(settings: Settings, arguments: Sequence[str], say: Callable[[str], None]) -> None:
    """The job is worth running without it, so an error is only said."""
    if left := RunningServer.of(settings.home):  # of a service that was killed, or started by hand
        say(f"Server at {left.url}: page, API and gateway.")
        return
    if not can_serve():
        say("No HTTP server: its packages are not installed. Run: pip install 'lineproof[server]'")
        return
    try:
        say(f"Server at {start_server(settings, arguments).url}: page, API and gateway.")
    except ServerFailed as error:
        say(str(error))


def _stop_gateway(settings: Settings) -> bool:
    """Stop the gateway of this home directory; return whether it was running."""
    server = RunningServer.of(settings.home)
    if server:
        server.stop(BROKER_TIMEOUT_S)
    return server is not None


def _stop_job(process: psutil.Process, timeout_s: float, report: Callable[[str], None]) -> None:
    """Stop the process of the service and its JVM; with SIGKILL at the end, after which the next start goes on."""
    deadline = time.monotonic() + timeout_s
    with suppress(psutil.NoSuchProcess):
        jvms = [child for child in process.children(recursive=True) if _is_spark(child)]
        process.send_signal(signal.SIGTERM)
        if psutil.wait_procs([process], REPORT_AFTER_S)[1]:
            report(f"Waiting up to {timeout_s:.0f} s for running batches…")
        _, alive = psutil.wait_procs([process, *jvms], max(0.0, deadline - time.monotonic()))
        for left in alive:
            left.kill()
        psutil.wait_procs(alive, BROKER_TIMEOUT_S)


def _is_spark(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return SPARK_MAIN_CLASS in process.cmdline()
    return False


def refuse_if_running(service: Service) -> None:
    """Refuse a second service in the same home directory."""
    if running := service.process():
        raise ServiceError(
            f"`lineproof up` is already running here (process {running.pid}).",
            "Stop it with `lineproof down`, or use another home directory: --set home=DIRECTORY.",
        )


def refuse_foreign_broker(settings: Settings) -> None:
    """Refuse a configured broker: `up` starts its own, and would silently ignore the other."""
    if servers := settings.kafka.get("bootstrap.servers"):
        raise ServiceError(
            f"`lineproof up` runs its own broker, but kafka.bootstrap.servers is set to {servers}.",
            "Use `lineproof job` with that broker, or unset kafka.bootstrap.servers.",
        )
