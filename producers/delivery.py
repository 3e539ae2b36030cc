"""Delivery that survives crashes: a publish puts its event into the spool, and a thread carries it to the endpoint.

However a process ends, nothing is lost: at exit and on SIGTERM its deliveries are flushed, a forked child has its own,
and what a killed process leaves behind is delivered by the next that uses the same spool.
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

from lineproof.producers.spooling.delivery_worker import POLL_S, Counts, Courier
from lineproof.producers.spooling.frames import Record
from lineproof.producers.spooling.log_throttle import Complaints
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.transports.base import Sender, Stats
from lineproof.schemas.envelope import Envelope

log = logging.getLogger(__name__)

EXIT_TIMEOUT_S = 5.0
"""How long a process that ends waits for its endpoint."""

on_terminate: list[Callable[[], None]] = []
"""What to do first when SIGTERM ends the process: its last events."""

_STOP_GRACE_S = 1.0

_live: "weakref.WeakSet[Delivery]" = weakref.WeakSet()
_forking: "list[Delivery]" = []
_registry = threading.RLock()  # for `_live`, and for one thread to fork at a time


class Delivery:
    """A transport to any endpoint that there is a sender for. After a close it can be used again."""

    def __init__(self, spool: Spool, open_sender: Callable[[], Sender]) -> None:
        self.spool = spool
        self._open_sender = open_sender
        self._complaints = Complaints(log)
        self._begin()
        with _registry:
            _live.add(self)
        _catch_sigterm()
        spool.adopt()
        if spool.pending_bytes:
            self._carry()

    def _begin(self) -> None:
        self._counts = Counts()
        self._courier: Courier | None = None
        self._closed: bool | None = None  # what came of closing it

    def publish(self, key: bytes, envelope: Envelope) -> None:
        """Take one event: a write to the page cache, no more."""
        if self.spool.append(Record(key, envelope.encode())):
            self._carry()

    def flush(self, timeout_s: float) -> bool:
        """Wait until all is delivered, also what ended processes left; False when time ran out."""
        deadline = time.monotonic() + timeout_s
        self.spool.adopt()
        if self.spool.pending_bytes:
            self._carry()
        while self.spool.pending_bytes:
            if time.monotonic() >= deadline:
                return False
            self.spool.wait(POLL_S)
        return True

    def close(self, timeout_s: float) -> bool:
        """Flush, stop the thread and release the spool; False when something is left there."""
        if self._closed is None:
            self._closed = self._close(timeout_s)
        return self._closed

    def confirm(self, timeout_s: float) -> None:
        """Ask the endpoint, by a sender of its own; raises EndpointUnavailable."""
        sender = self._open_sender()
        try:
            sender.confirm(timeout_s)
        finally:
            sender.close()

    @property
    def fallback(self) -> str:
        """Where events wait while the endpoint is away."""
        return f"the spool in {self.spool.root}"

    @property
    def stats(self) -> Stats:
        """What became of the events so far; in a forked child, of its own."""
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

    def begin_in_child(self) -> None:
        """Leave everything to the parent, and begin anew."""
        self.spool.forget()
        self._begin()

    def _carry(self) -> None:
        self._closed = None
        courier = self._courier
        if courier is None or courier.ended:
            courier = self._new_courier()
        try:
            courier.wake()
        except RuntimeError as error:
            self._complaints.say(f"No thread can be started: {error}. Events wait in {self.spool.root}.")

    def _new_courier(self) -> Courier:
        with self.spool.guard:
            new = Courier(self.spool, self._open_sender, self._counts)
            if self._courier is None or self._courier.ended:  # still, for a signal handler may have been quicker
                self._courier = new
            return self._courier

    def _close(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        if not self.flush(timeout_s):
            log.warning(
                "%d events could not be delivered within %.1f s. They wait in %s for the next process that uses it.",
                *(self.spool.pending, timeout_s, self.spool.root),
            )
        if self._courier is None or self._courier.ended:
            return not self.spool.release()
        return self._courier.stop(max(_STOP_GRACE_S, deadline - time.monotonic()))


def _close_all() -> None:
    deadline = time.monotonic() + EXIT_TIMEOUT_S
    with _registry:
        deliveries = list(_live)
    for delivery in deliveries:
        delivery.close(max(0.0, deadline - time.monotonic()))


def _catch_sigterm() -> None:
    """Only where SIGTERM would end the process unheard; a service's own handler is its own affair."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """Send what there is, and then end as if this handler were not there."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # who asks twice is impatient: the spool keeps the rest
    try:
        _call_hooks()
        _close_all()
    finally:
        signal.raise_signal(signal.SIGTERM)
        os._exit(128 + signal.SIGTERM)  # the first process of a container does not end by a signal it sends itself


def _call_hooks() -> None:
    for hook in on_terminate:
        try:
            hook()
        except Exception:
            log.exception("A hook of on_terminate failed; the others go on.")


def _before_fork() -> None:
    """Let nobody be in the middle of something that the child would have to clean up."""
    _registry.acquire()
    _forking.extend(_live)
    for delivery in _forking:
        delivery.spool.guard.acquire()


def _after_fork_in_parent() -> None:
    for delivery in _forking:
        delivery.spool.guard.release()
    _forking.clear()
    _registry.release()


def _after_fork_in_child() -> None:
    for delivery in _forking:
        delivery.begin_in_child()
    _forking.clear()
    _registry.release()


atexit.register(_close_all)
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
