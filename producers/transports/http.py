"""OpenLineage JSON by POST, to any backend that accepts OpenLineage over HTTP."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import SpoolEntry
from lineproof.producers.transports.base import DeliveryResult, DeliveryStatus
from lineproof.producers.transports.config import HttpConfig
from lineproof.producers.transports.http_client import BYTES_PER_BATCH, HttpClient
from lineproof.schemas.envelope import Envelope, UnreadableRecord, decode


def http_transport(config: HttpConfig, spool: Path, max_spool_bytes: int = 2**30) -> Delivery:
    """Deliver to a backend. Events wait in `spool` while it is unavailable."""
    open_sender = partial(HttpSender, config)
    open_sender().close()  # raises now if the CA file cannot be used
    return Delivery(Spool(spool, max_spool_bytes), open_sender)


class HttpSender:
    """Posts events in batches where the backend has an endpoint for them, else in order, one at a time."""

    def __init__(self, config: HttpConfig) -> None:
        self._client = HttpClient(config)
        self._entries: list[SpoolEntry] = []
        self._payloads: list[bytes] = []
        self._results: list[DeliveryResult] = []

    def send(self, record: SpooledRecord, entry: SpoolEntry) -> bool:
        """Take an event for the next batch. Returns False if the batch is full."""
        if self._is_full(len(record.value)):
            return False
        try:
            opened = decode(record.value)
        except UnreadableRecord as error:
            self._results.append(DeliveryResult(DeliveryStatus.REJECTED, entry, error.what))
            return True
        self._entries.append(entry)
        self._payloads.append(opened.payload if isinstance(opened, Envelope) else opened)
        return True

    def poll(self, timeout_s: float) -> Iterable[DeliveryResult]:
        """Post what was taken, unless more may follow at once: then only if the batch is full."""
        if self._payloads and (timeout_s > 0 or self._is_full(0)):
            outcomes = self._client.post(self._payloads)
            self._results += [
                DeliveryResult(outcome.status, entry, outcome.reason, outcome.retry_after_s)
                for entry, outcome in zip(self._entries, outcomes, strict=True)
            ]
            self._entries, self._payloads = [], []
        results, self._results = self._results, []
        return results

    def confirm(self, timeout_s: float) -> None:
        """Raise EndpointUnavailable if the backend does not answer."""
        self._client.confirm(timeout_s)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _is_full(self, more_bytes: int) -> bool:
        if not self._payloads:
            return False
        size = sum(map(len, self._payloads)) + more_bytes
        return len(self._payloads) >= self._client.batch_size or size > BYTES_PER_BATCH
