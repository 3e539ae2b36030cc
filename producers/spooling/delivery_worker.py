"""The thread that delivers a spool to its endpoint."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from lineproof.producers.spooling.in_flight import InFlight
from lineproof.producers.spooling.log_throttle import LogThrottle
from lineproof.producers.spooling.rejected import RejectedFile
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import YIELD_S, SpoolEntry
from lineproof.producers.transports.base import DeliveryResult, DeliveryStatus, Sender

log = logging.getLogger(__name__)

POLL_S = 0.005
_SENDS_PER_YIELD = 8
_RESULTS_PER_YIELD = 16
_LINGER_S = 0.02
_ADOPT_EVERY_S = 3
_SYNC_EVERY_S = 1
_FIRST_BACKOFF_S = 0.1
_MAX_BACKOFF_S = 10


@dataclass
class DeliveryCounts:
    """Counts of records, over all workers of a delivery."""

    delivered: int = 0
    rejected: int = 0
    errors: int = 0


class RetryLater(Exception):
    """The endpoint accepts no records for now."""


class DeliveryWorker:
    """Delivers records in the spool's order, with retries, until it is stopped.

    It yields the interpreter every few records: no publish may wait for it.
    """

    def __init__(self, spool: Spool, open_sender: Callable[[], Sender], counts: DeliveryCounts) -> None:
        self.ended = False
        self._has_pending = True
        self._spool = spool
        self._open_sender = open_sender
        self._counts = counts
        self._error_log, self._rejection_log = LogThrottle(log), LogThrottle(log)
        self._in_flight = InFlight(spool)
        self._rejected = RejectedFile(spool.root)
        self._retry_reason: str | None = None
        self._retry_after_s = 0.0
        self._backoff_s: float = _FIRST_BACKOFF_S
        self._adopt_at = self._sync_at = 0.0
        self._wakes: SimpleQueue[None] = SimpleQueue()  # safe in signal handlers, unlike threading.Event
        self._idle = self._stopping = False
        self._started = False
        self._start_lock = threading.Lock()

    def wake(self) -> None:
        """Signal that there is something to read. Raises RuntimeError if no thread can be started."""
        if not self._started:
            threading.Thread(target=self._run, name="lineproof-delivery", daemon=True).start()
        elif self._idle:
            self._idle = False
            self._wakes.put(None)

    def stop(self, timeout_s: float) -> bool:
        """Stop the thread, which releases the spool. Returns False if records are pending or the sender hangs."""
        deadline = time.monotonic() + timeout_s
        self._stopping = True
        self._wakes.put(None)
        while not self.ended and time.monotonic() < deadline:
            self._spool.wait(POLL_S)
        return not self._has_pending

    def _run(self) -> None:
        # A signal handler may start a second thread while the first is starting. Only one of them runs.
        if not self._start_lock.acquire(blocking=False):
            return
        self._started = True
        try:
            self._loop()
        finally:
            self._end()

    def _loop(self) -> None:
        # Only this frame refers to the sender. A forked child never leaves this frame, so it never finalises the
        # sender: librdkafka would wait for threads that only the parent has.
        sender: Sender | None = None
        while not self._stopping:
            try:
                self._maintain_spool()
                if self._in_flight.next_record() or not self._in_flight.is_empty:
                    sender = self._open_sender() if sender is None else sender
                    self._deliver(sender)
                else:
                    self._wait_for_records(sender)
            except Exception as error:
                log.debug("Delivery continues after an error", exc_info=True)
                self._report_error(str(error) or repr(error))
                _close(sender)
                sender = None
                self._retry_reason = None
                self._in_flight.rewind()
                self._back_off()
        _close(sender)

    def _maintain_spool(self) -> None:
        self._in_flight.acknowledge()
        now = time.monotonic()
        if now >= self._adopt_at:
            self._spool.adopt()
            self._adopt_at = now + _ADOPT_EVERY_S
        if now >= self._sync_at:
            self._spool.sync_overdue()
            self._sync_at = now + _SYNC_EVERY_S

    def _deliver(self, sender: Sender) -> None:
        has_more = self._send(sender)
        for number, result in enumerate(sender.poll(0 if has_more else _LINGER_S), 1):
            self._handle(result)
            if number % _RESULTS_PER_YIELD == 0:
                time.sleep(YIELD_S)
        time.sleep(YIELD_S)
        if self._retry_reason is not None:
            raise RetryLater(self._retry_reason)

    def _send(self, sender: Sender) -> bool:
        """Send a few records. Returns whether there are more, and room for them."""
        for _ in range(_SENDS_PER_YIELD):
            following = self._in_flight.next_record()
            if following is None or not sender.send(*following):
                return False
            self._in_flight.mark_sent()
        return True

    def _handle(self, result: DeliveryResult) -> None:
        status, entry, reason, retry_after_s = result
        if entry is None:
            self._report_error(reason)
        elif status is DeliveryStatus.RETRY:
            self._retry_reason = reason
            self._retry_after_s = max(self._retry_after_s, retry_after_s)
        elif status is DeliveryStatus.REJECTED:
            self._reject(entry, reason)
        else:
            entry.done = True
            self._counts.delivered += 1
            self._backoff_s = _FIRST_BACKOFF_S

    def _reject(self, entry: SpoolEntry, reason: str) -> None:
        if record := self._spool.reread(entry):
            self._rejected.append(record, reason)
            entry.done = True
            self._counts.rejected += 1
            kept = f"It is kept in {self._rejected.path}."
            self._rejection_log.error(f"An event can never be delivered: {reason}. {kept}")

    def _report_error(self, reason: str) -> None:
        self._counts.errors += 1
        if pending := self._spool.pending:  # errors of an idle connection are not worth a log line
            waiting = f"{pending} events wait in {self._spool.root}"
            self._error_log.error(f"Events cannot be delivered now: {reason}. {waiting}; delivery is retried.")

    def _back_off(self) -> None:
        with suppress(Empty):
            self._wakes.get(timeout=max(self._backoff_s, self._retry_after_s))
        self._retry_after_s = 0.0
        self._backoff_s = min(2 * self._backoff_s, _MAX_BACKOFF_S)

    def _wait_for_records(self, sender: Sender | None) -> None:
        self._idle = True
        if not self._spool.has_unread:  # checked after setting _idle: a later append wakes this thread
            with suppress(Empty):
                self._wakes.get(timeout=_ADOPT_EVERY_S)
                time.sleep(_LINGER_S)  # so that a burst of events becomes a batch
        self._idle = False
        for result in () if sender is None else sender.poll(0):
            self._handle(result)

    def _end(self) -> None:
        with self._spool.lock:
            try:
                self._in_flight.acknowledge()
                self._has_pending = self._spool.release()
            finally:
                self.ended = True


def _close(sender: Sender | None) -> None:
    if sender is not None:
        with suppress(Exception):
            sender.close()
