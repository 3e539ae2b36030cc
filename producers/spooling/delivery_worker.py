"""The thread between a spool and its endpoint."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from lineproof.producers.spooling.in_flight import Window
from lineproof.producers.spooling.log_throttle import Complaints
from lineproof.producers.spooling.rejected import RejectedFile
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import BREATH_S, Entry
from lineproof.producers.transports.base import Outcome, Sender, Verdict

log = logging.getLogger(__name__)

POLL_S = 0.005
_SENDS_PER_BREATH = 8
_OUTCOMES_PER_BREATH = 16
_LINGER_S = 0.02
_ADOPT_EVERY_S = 3
_SYNC_EVERY_S = 1
_FIRST_BACK_OFF_S = 0.1
_LONGEST_BACK_OFF_S = 10


@dataclass
class Counts:
    """What became of records, through all couriers of a delivery."""

    delivered: int = 0
    rejected: int = 0
    errors: int = 0


class Refused(Exception):
    """The endpoint takes nothing now."""


class Courier:
    """Carries records to the endpoint in the spool's order, as often as it takes, until it is stopped.

    Every few records it gives the interpreter away: no publish may wait for it.
    """

    def __init__(self, spool: Spool, open_sender: Callable[[], Sender], counts: Counts) -> None:
        self.ended = False
        self._left_something = True
        self._spool = spool
        self._open_sender = open_sender
        self._counts = counts
        self._troubles, self._rejections = Complaints(log), Complaints(log)
        self._window = Window(spool)
        self._rejected = RejectedFile(spool.root)
        self._refusal: str | None = None
        self._back_off_s: float = _FIRST_BACK_OFF_S
        self._adopt_at = self._sync_at = 0.0
        self._wakes: SimpleQueue[None] = SimpleQueue()  # made for use in signal handlers, as Event is not
        self._resting = self._stopping = False
        self._started = False
        self._first = threading.Lock()

    def wake(self) -> None:
        """Say that there is something to read. Raises RuntimeError where there can be no more threads."""
        if not self._started:
            threading.Thread(target=self._run, name="lineproof-delivery", daemon=True).start()
        elif self._resting:
            self._resting = False
            self._wakes.put(None)

    def stop(self, timeout_s: float) -> bool:
        """End the thread, which releases the spool; False when something is left there, or the sender hangs."""
        deadline = time.monotonic() + timeout_s
        self._stopping = True
        self._wakes.put(None)
        while not self.ended and time.monotonic() < deadline:
            self._spool.wait(POLL_S)
        return not self._left_something

    def _run(self) -> None:
        # A signal handler may have to start another thread in the middle of the start of one.
        if not self._first.acquire(blocking=False):
            return
        self._started = True
        try:
            self._work()
        finally:
            self._end()

    def _work(self) -> None:
        # Only this frame knows the sender. In a forked child it is never left, so the sender is never finalised there:
        # librdkafka would wait for threads that only the parent has.
        sender: Sender | None = None
        while not self._stopping:
            try:
                self._keep_house()
                if self._window.upcoming() or not self._window.is_empty:
                    sender = self._open_sender() if sender is None else sender
                    self._carry(sender)
                else:
                    self._rest(sender)
            except Exception as error:
                log.debug("delivery goes on after an error", exc_info=True)
                self._trouble(str(error) or repr(error))
                _close(sender)
                sender = None
                self._refusal = None
                self._window.rewind()
                self._back_off()
        _close(sender)

    def _keep_house(self) -> None:
        self._window.settle()
        now = time.monotonic()
        if now >= self._adopt_at:
            self._spool.adopt()
            self._adopt_at = now + _ADOPT_EVERY_S
        if now >= self._sync_at:
            self._spool.sync_overdue()
            self._sync_at = now + _SYNC_EVERY_S

    def _carry(self, sender: Sender) -> None:
        is_more = self._send(sender)
        for number, outcome in enumerate(sender.poll(0 if is_more else _LINGER_S), 1):
            self._settle(outcome)
            if number % _OUTCOMES_PER_BREATH == 0:
                time.sleep(BREATH_S)
        time.sleep(BREATH_S)
        if self._refusal is not None:
            raise Refused(self._refusal)

    def _send(self, sender: Sender) -> bool:
        """Whether there is more to send, and room for it."""
        for _ in range(_SENDS_PER_BREATH):
            upcoming = self._window.upcoming()
            if upcoming is None or not sender.send(*upcoming):
                return False
            self._window.sent()
        return True

    def _settle(self, outcome: Outcome) -> None:
        verdict, entry, reason = outcome
        if entry is None:
            self._trouble(reason)
        elif verdict is Verdict.RETRY:
            self._refusal = reason
        elif verdict is Verdict.REJECTED:
            self._reject(entry, reason)
        else:
            entry.done = True
            self._counts.delivered += 1
            self._back_off_s = _FIRST_BACK_OFF_S

    def _reject(self, entry: Entry, reason: str) -> None:
        if record := self._spool.read_again(entry):
            self._rejected.put(record, reason)
            entry.done = True
            self._counts.rejected += 1
            self._rejections.say(f"An event can never be delivered: {reason}. It is put down in {self._rejected.path}.")

    def _trouble(self, reason: str) -> None:
        self._counts.errors += 1
        if pending := self._spool.pending:  # nobody need know of connections that nobody uses
            waiting = f"{pending} events wait in {self._spool.root}"
            self._troubles.say(f"Events cannot be delivered now: {reason}. {waiting}, and delivery is tried again.")

    def _back_off(self) -> None:
        with suppress(Empty):
            self._wakes.get(timeout=self._back_off_s)
        self._back_off_s = min(2 * self._back_off_s, _LONGEST_BACK_OFF_S)

    def _rest(self, sender: Sender | None) -> None:
        self._resting = True
        if not self._spool.unread:  # asked after saying that we rest: whoever appends later wakes us
            with suppress(Empty):
                self._wakes.get(timeout=_ADOPT_EVERY_S)
                time.sleep(_LINGER_S)  # what comes in a burst goes in a batch
        self._resting = False
        for outcome in () if sender is None else sender.poll(0):
            self._settle(outcome)

    def _end(self) -> None:
        with self._spool.guard:
            try:
                self._window.settle()
                self._left_something = self._spool.release()
            finally:
                self.ended = True


def _close(sender: Sender | None) -> None:
    if sender is not None:
        with suppress(Exception):
            sender.close()
