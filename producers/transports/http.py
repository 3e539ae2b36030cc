"""OpenLineage JSON by POST, to any backend that accepts OpenLineage over HTTP."""

import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import SpoolEntry
from lineproof.producers.transports.base import DeliveryResult, DeliveryStatus, EndpointUnavailable
from lineproof.schemas.envelope import Envelope, decode
from lineproof.schemas.errors import LineproofError

ENDPOINT = "/api/v1/lineage"
TIMEOUT_S = 5
REJECTED_STATUSES = (400, 413, 415, 422)
"""HTTP statuses of an event that the backend will not accept the next time either."""


class InvalidUrl(LineproofError):
    """Not the URL of a backend."""


def http_transport(url: str, api_key: str, spool: Path, max_spool_bytes: int = 2**30) -> Delivery:
    """Deliver to the backend at `url`. Events wait in `spool` while it is unavailable."""
    if not url.startswith(("http://", "https://")):
        raise InvalidUrl(f"{url!r} is not the URL of a backend.", "Set emitter.url to a URL that begins with https://.")
    return Delivery(Spool(spool, max_spool_bytes), lambda: HttpSender(url.rstrip("/"), api_key))


class HttpSender:
    """Posts events in order, one at a time. After a failed POST the next sender tries again."""

    def __init__(self, url: str, api_key: str) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._results: list[DeliveryResult] = []

    def send(self, record: SpooledRecord, entry: SpoolEntry) -> bool:
        """Post one event. The next `poll` returns the result."""
        if self._results and self._results[-1].status is DeliveryStatus.RETRY:
            return False
        opened = decode(record.value)
        payload = opened.payload if isinstance(opened, Envelope) else opened
        self._results.append(self._post(payload, entry))
        return True

    def poll(self, timeout_s: float) -> Iterable[DeliveryResult]:  # noqa: ARG002
        """The results since the last call."""
        results, self._results = self._results, []
        return results

    def confirm(self, timeout_s: float) -> None:
        """Send a GET. Any HTTP status counts as an answer: backends differ."""
        try:
            with urllib.request.urlopen(self._request(None), timeout=timeout_s):  # noqa: S310
                pass
        except urllib.error.HTTPError:
            pass
        except OSError as error:
            raise EndpointUnavailable(
                f"The backend at {self._url} does not answer: {error}.", "Check emitter.url, and that the backend runs."
            ) from error

    def close(self) -> None:
        """There is nothing to release."""

    def _post(self, payload: bytes, entry: SpoolEntry) -> DeliveryResult:
        try:
            with urllib.request.urlopen(self._request(payload), timeout=TIMEOUT_S):  # noqa: S310
                return DeliveryResult(DeliveryStatus.DELIVERED, entry)
        except urllib.error.HTTPError as error:
            reason = f"{self._url} answered {error.code} {error.reason}"
            is_rejected = error.code in REJECTED_STATUSES
            return DeliveryResult(DeliveryStatus.REJECTED if is_rejected else DeliveryStatus.RETRY, entry, reason)
        except OSError as error:
            return DeliveryResult(DeliveryStatus.RETRY, entry, f"{self._url} does not answer: {error}")

    def _request(self, payload: bytes | None) -> urllib.request.Request:
        return urllib.request.Request(self._url + ENDPOINT, data=payload, headers=self._headers)  # noqa: S310
