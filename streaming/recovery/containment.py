"""Keep a record that no batch can process from stopping its query.

A batch that fails is tried again without writing: all of it, then none of it, then smaller and smaller parts, until the
records are found on which it fails. They go into quarantine, and the batch is written without them. If the batch
without records fails as well, or all parts pass, the reason lies elsewhere, and the query fails as it would have.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Timer

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from lineproof.streaming.delta.conflicts import is_conflict
from lineproof.streaming.recovery.bisection import failing
from lineproof.streaming.recovery.failures import is_known, summary
from lineproof.streaming.recovery.quarantine import Key, Quarantine, between

log = logging.getLogger(__name__)

MIN_PART_TIMEOUT_S = 60.0
"""Also a batch of one record takes a few seconds."""
MAX_ERROR = 1000
"""Characters of an error that are kept."""

_STOPPING = (
    "InterruptedException",
    "ClosedByInterrupt",
    "SparkContext was shut down",
    "stopped SparkContext",
    "cancel",
)


class Containment:
    """Runs the batches of one query. `write` writes rows; `attempt` only computes what would be written."""

    def __init__(
        self,
        quarantine: Quarantine,
        timeout_s: float,
        write: Callable[[DataFrame, int], None],
        attempt: Callable[[DataFrame, int], None],
    ) -> None:
        self._quarantine = quarantine
        self._timeout_s = timeout_s
        self._write = write
        self._attempt = attempt

    def run(self, arrived: DataFrame, number: int) -> None:
        """Write a batch, without the records on which it fails."""
        try:
            with deadline(arrived.sparkSession, self._timeout_s):
                self._write(self._usable(arrived), number)
        except (PySparkException, Py4JError, BatchTimeout) as error:
            if not may_be_a_record(error):
                raise
            log.warning("Batch %d failed. Looking for the record that it fails on: %s", number, summary(str(error)))
            found = self._search(arrived, number, error)
            if found:
                self._quarantine.add(found)
                for key, reason in found.items():
                    log.warning("Quarantined %s: %s", "/".join(map(str, key)), reason)
            elif not isinstance(error, BatchTimeout):
                raise
            self._write(self._usable(arrived), number)

    def _usable(self, arrived: DataFrame) -> DataFrame:
        """The rows without those in quarantine, and the dead letters of those. Nothing to do if there are none."""
        if not self._quarantine.errors:
            return arrived
        letters = None
        if self._quarantine.key != ("event_id",):
            letters = self._quarantine.dead_letters(_keys(arrived, self._quarantine))
        rows = self._quarantine.leave_out(arrived)
        return rows if letters is None else rows.unionByName(letters, allowMissingColumns=True)

    def _search(self, arrived: DataFrame, number: int, error: Exception) -> dict[Key, str]:
        keys = sorted(key for key in _keys(arrived, self._quarantine) if key not in self._quarantine.errors)
        places = {key: place for place, key in enumerate(keys)}
        began = time.monotonic()
        attempts = 0

        def attempt(part: Sequence[Key]) -> str | None:
            nonlocal attempts
            attempts += 1
            share = len(part) / max(1, len(keys))
            rows = arrived.where(between(self._quarantine.key, runs_of(part, places)))
            try:
                with deadline(arrived.sparkSession, max(MIN_PART_TIMEOUT_S, 2 * share * self._timeout_s)):
                    self._attempt(rows, number)
            except (PySparkException, Py4JError, BatchTimeout) as failure:
                if not may_be_a_record(failure):
                    raise
                return summary(str(failure))[:MAX_ERROR]
            finally:
                log.info("Batch %d: tried %d of %d records", number, len(part), len(keys))
            return None

        if attempt([]) is not None:
            raise error  # it fails without any record
        whole = attempt(keys)
        if whole is None:
            return {}
        found = failing(keys, whole, attempt)
        seconds = time.monotonic() - began
        log.warning("Batch %d: %d bad records in %d attempts, %.0f s", number, len(found), attempts, seconds)
        return found


class BatchTimeout(Exception):
    """A batch took much longer than batches take, and was cancelled."""


@contextmanager
def deadline(spark: SparkSession, seconds: float) -> Iterator[None]:
    """Cancel the Spark jobs of this query if the block takes longer."""
    context = spark.sparkContext
    group = context.getLocalProperty("spark.jobGroup.id")
    expired = Event()

    def cancel() -> None:
        expired.set()
        context.cancelJobGroup(str(group))

    timer = Timer(seconds, cancel)
    timer.daemon = True
    if group:
        timer.start()
    try:
        yield
    except Exception as error:
        if expired.is_set():
            raise BatchTimeout(f"The batch was cancelled after {seconds:.0f} s.") from error
        raise
    finally:
        timer.cancel()


def may_be_a_record(error: BaseException) -> bool:
    """Whether a record may be why a batch failed; not if the cause is known, or the query is being stopped."""
    if isinstance(error, BatchTimeout):
        return True
    text = str(error)
    # A plan that cannot be analysed is a fault of the code, whatever the rows are.
    is_plan = isinstance(error, AnalysisException) or "AnalysisException" in text
    is_elsewhere = isinstance(error, Py4JNetworkError) or is_plan or is_known(text) or is_conflict(error)
    return not is_elsewhere and not any(word in text for word in _STOPPING)


def runs_of(part: Sequence[Key], places: Mapping[Key, int]) -> Iterator[tuple[Key, Key]]:
    """The part as ranges of neighbours among all keys, each within one partition."""
    ordered = sorted(part)
    begin = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or (
            places[ordered[at]] != places[ordered[at - 1]] + 1 or ordered[at][:-1] != ordered[at - 1][:-1]
        ):
            yield ordered[begin], ordered[at - 1]
            begin = at


def _keys(arrived: DataFrame, quarantine: Quarantine) -> list[Key]:
    return [tuple(row) for row in arrived.select(*quarantine.key).collect()]
