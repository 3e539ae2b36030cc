"""Delivery that survives crashes: a publish appends its event to the spool, and a thread sends it to the endpoint.

No event is lost, however a process ends: deliveries are flushed at exit and on SIGTERM, a forked child has its own
delivery, and the events of a killed process are delivered by the next process that uses the same spool.
"""

import atexit
import logging
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from types import FrameType

from lineproof.producers.spooling.delivery_worker import POLL_S, DeliveryCounts, DeliveryWorker
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.log_throttle import LogThrottle
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.transports.base import Sender, Stats
from lineproof.schemas.envelope import Envelope

log = logging.getLogger(__name__)

EXIT_TIMEOUT_S = 5.0
"""How long an exiting process waits for its endpoint."""

on_terminate: list[Callable[[], None]] = []
"""Called first when SIGTERM ends the process, to publish its last events."""

_STOP_GRACE_S = 1.0

_live: "weakref.WeakSet[Delivery]" = weakref.WeakSet()
_forking: "list[Delivery]" = []
_registry = threading.RLock()  # protects `_live`, and lets one thread fork at a time


class Delivery:
    """A transport to any endpoint that has a sender. It can be used again after a close."""

    def __init__(self, spool: Spool, open_sender: Callable[[], Sender]) -> None:
        self.spool = spool
        self._open_sender = open_sender
        self._thread_log = LogThrottle(log)
        self._reset()
        with _registry:
            _live.add(self)
        _catch_sigterm()
        spool.adopt()
        if spool.pending_bytes:
            self._wake_worker()

    def _reset(self) -> None:
        self._counts = DeliveryCounts()
        self._worker: DeliveryWorker | None = None
        self._closed: bool | None = None  # the result of close()

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Append one event to the spool: a write to the page cache."""
        self.append(SpooledRecord(key, envelope.encode()))

    def append(self, record: SpooledRecord) -> bool:
        """Append a record to the spool. Returns False if there is no room for it."""
        if is_appended := self.spool.append(record):
            self._wake_worker()
        return is_appended

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything is delivered, orphaned events included. Returns False on timeout."""
        deadline = time.monotonic() + timeout_s
        self.spool.adopt()
        if self.spool.pending_bytes:
            self._wake_worker()
        while self.spool.pending_bytes:
            if time.monotonic() >= deadline:
                return False
            self.spool.wait(POLL_S)
        return True

    def close(self, timeout_s: float) -> bool:
        """Flush, stop the thread and release the spool. Returns False if events are left in the spool."""
        if self._closed is None:
            self._closed = self._close(timeout_s)
        return self._closed

    def confirm(self, timeout_s: float) -> None:
        """Check the endpoint with a new sender. Raises EndpointUnavailable."""
        sender = self._open_sender()
        try:
            sender.confirm(timeout_s)
        finally:
            sender.close()

    @property
    def fallback(self) -> str:
        """Where events wait while the endpoint is unavailable."""
        return f"the spool in {self.spool.root}"

    @property
    def stats(self) -> Stats:
        """Counts of events so far. A forked child counts its own."""
        spool, counts = self.spool, self._counts
        return Stats(
            taken=spool.taken,
            delivered=counts.delivered,
            lost=spool.lost,
            rejected=counts.rejected,
            errors=counts.errors,
            pending=spool.pending,
            pending_bytes=spool.pending_bytes,
        )

    def reset_after_fork(self) -> None:
        """Start empty in a forked child: the events belong to the parent."""
        self.spool.reset_after_fork()
        self._reset()

    def _wake_worker(self) -> None:
        self._closed = None
        worker = self._worker
        if worker is None or worker.ended:
            worker = self._new_worker()
        try:
            worker.wake()
        except RuntimeError as error:
            self._thread_log.error(f"No thread can be started: {error}. Events wait in {self.spool.root}.")

    def _new_worker(self) -> DeliveryWorker:
        with self.spool.lock:
            new = DeliveryWorker(self.spool, self._open_sender, self._counts)
            if self._worker is None or self._worker.ended:  # a signal handler may have been faster
                self._worker = new
            return self._worker

    def _close(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        if not self.flush(timeout_s):
            log.warning(
                "%d events could not be delivered within %.1f s. They wait in %s for the next process that uses it.",
                *(self.spool.pending, timeout_s, self.spool.root),
            )
        if self._worker is None or self._worker.ended:
            return not self.spool.release()
        return self._worker.stop(max(_STOP_GRACE_S, deadline - time.monotonic()))


def _close_all() -> None:
    deadline = time.monotonic() + EXIT_TIMEOUT_S
    with _registry:
        deliveries = list(_live)
    for delivery in deliveries:
        delivery.close(max(0.0, deadline - time.monotonic()))


def _catch_sigterm() -> None:
    """Install a handler if SIGTERM has none. A service's own handler is left alone."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """Deliver pending events, then end the process as SIGTERM does by default."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second SIGTERM ends at once; the spool keeps the rest
    try:
        _call_hooks()
        _close_all()
    finally:
        signal.raise_signal(signal.SIGTERM)
        os._exit(128 + signal.SIGTERM)  # PID 1 of a container ignores a signal it sends itself


def _call_hooks() -> None:
    for hook in on_terminate:
        try:
            hook()
        except Exception:
            log.exception("A hook of on_terminate failed; the others continue")


def _before_fork() -> None:
    """Take all locks, so that the child inherits no half-done work."""
    _registry.acquire()
    _forking.extend(_live)
    for delivery in _forking:
        delivery.spool.lock.acquire()


def _after_fork_in_parent() -> None:
    for delivery in _forking:
        delivery.spool.lock.release()
    _forking.clear()
    _registry.release()


def _after_fork_in_child() -> None:
    for delivery in _forking:
        delivery.reset_after_fork()
    _forking.clear()
    _registry.release()


atexit.register(_close_all)
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
