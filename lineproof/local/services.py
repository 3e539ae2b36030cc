"""`up`, `down` and `status`: the broker and the job as one service on this machine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from lineproof.local.broker import Broker
from lineproof.local.job_config import NO_RECOVERY, Recovery
from lineproof.local.job_runner import run_job
from lineproof.local.logs import rotate_up_log, up_log
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings
from lineproof.streaming.run import Progress


class ServiceError(LineproofError):
    """The service cannot be started or stopped."""


@dataclass(frozen=True)
class Service:
    """The process that `up` runs in, as its state file tells."""

    home: Path

    @property
    def _state(self) -> Path:
        return self.home / "up.pid"

    def process(self) -> psutil.Process | None:
        """The running service, if there is one. A pid alone may have been given to another process since."""
        try:
            process = psutil.Process(int(self._state.read_text()))
            return process if "up" in process.cmdline() else None
        except (OSError, ValueError, psutil.Error):
            return None

    def register(self) -> None:
        """Say that this process is the service, and ready."""
        draft = self._state.with_suffix(".new")
        draft.write_text(str(os.getpid()))
        draft.replace(self._state)

    def unregister(self) -> None:
        """Say that it is gone."""
        self._state.unlink(missing_ok=True)


def up(
    settings: Settings,
    report: Callable[[Progress], None],
    started: Callable[[str], None],
    recovery: Recovery = NO_RECOVERY,
) -> None:
    """Run broker and job until asked to stop. `started` gets the broker's address."""
    refuse_foreign_broker(settings)
    service = Service(settings.home)
    refuse_if_running(service)
    settings.home.mkdir(parents=True, exist_ok=True)
    broker = Broker(settings.home / "broker")
    address = broker.start()

    def ready() -> None:
        service.register()
        started(address)

    def report_batch(batch: Progress) -> None:
        rotate_up_log(up_log(settings))
        report(batch)

    try:
        run_job(settings, create_topics=True, report=report_batch, started=ready, recovery=recovery)
    finally:
        service.unregister()
        broker.stop()


def up_detached(arguments: list[str], settings: Settings, timeout_s: float = 180) -> None:
    """Start `up` as a process of its own, and wait until it is ready."""
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
            said = log.read_bytes()[begin:].decode(errors="replace").strip()
            raise ServiceError(f"The service did not start:\n{said}", f"The whole log is {log}.")
        if time.monotonic() > deadline:
            child.terminate()
            raise ServiceError(f"The service was not ready after {timeout_s:.0f} s.", f"Its log is {log}.")
        time.sleep(0.2)


def down(settings: Settings, timeout_s: float = 60) -> bool:
    """Stop the service and the broker; return whether anything was running."""
    process = Service(settings.home).process()
    if process:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout_s)
        except psutil.TimeoutExpired:
            # Safe: the next start repeats the batch that was under way.
            process.kill()
            process.wait(timeout_s)
    broker = Broker(settings.home / "broker")
    had_broker = broker.address() is not None
    broker.stop()
    return bool(process) or had_broker


def refuse_if_running(service: Service) -> None:
    """One broker and one job per home."""
    if running := service.process():
        raise ServiceError(
            f"`lineproof up` is already running here (process {running.pid}).",
            "Stop it with `lineproof down`, or use another directory: --set home=DIRECTORY.",
        )


def refuse_foreign_broker(settings: Settings) -> None:
    """`up` brings a broker; a configured one would be left out without a word."""
    if servers := settings.kafka.get("bootstrap.servers"):
        raise ServiceError(
            f"`lineproof up` runs a broker of its own, but kafka.bootstrap.servers names another: {servers}.",
            "Use `lineproof job` for that one, or leave kafka.bootstrap.servers out.",
        )
