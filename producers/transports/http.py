"""OpenLineage JSON by POST, to any backend that speaks OpenLineage over HTTP."""

import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.frames import Record
from lineproof.producers.spooling.spool import Spool
from lineproof.producers.spooling.spool_directory import Entry
from lineproof.producers.transports.base import EndpointUnavailable, Outcome, Verdict
from lineproof.schemas.envelope import Envelope, decode
from lineproof.schemas.errors import LineproofError

ENDPOINT = "/api/v1/lineage"
TIMEOUT_S = 5
NEVER = (400, 413, 415, 422)
"""What a backend says of an event that it will not take the next time either."""


class InvalidUrl(LineproofError):
    """Not where events can be sent."""


def http_transport(url: str, api_key: str, spool: Path, max_spool_bytes: int = 2**30) -> Delivery:
    """Deliver to the backend at `url`, whose events wait in `spool` while it is away."""
    if not url.startswith(("http://", "https://")):
        raise InvalidUrl(f"{url!r} is no address of a backend.", "Set lineage.url to one that begins with https://.")
    return Delivery(Spool(spool, max_spool_bytes), lambda: HttpSender(url.rstrip("/"), api_key))


class HttpSender:
    """Posts one event after the other; a backend that does not take one is asked again by the next sender."""

    def __init__(self, url: str, api_key: str) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._outcomes: list[Outcome] = []

    def send(self, record: Record, entry: Entry) -> bool:
        """Post one event; the outcome is handed out by the next `poll`."""
        if self._outcomes and self._outcomes[-1].verdict is Verdict.RETRY:
            return False
        opened = decode(record.value)
        payload = opened.payload if isinstance(opened, Envelope) else opened
        self._outcomes.append(self._post(payload, entry))
        return True

    def poll(self, timeout_s: float) -> Iterable[Outcome]:  # noqa: ARG002
        """The outcomes since the last call."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def confirm(self, timeout_s: float) -> None:
        """Any answer will do: backends differ in what they say to a GET."""
        try:
            with urllib.request.urlopen(self._request(None), timeout=timeout_s):  # noqa: S310
                pass
        except urllib.error.HTTPError:
            pass
        except OSError as error:
            raise EndpointUnavailable(
                f"The backend at {self._url} does not answer: {error}.", "Check lineage.url, and that it runs."
            ) from error

    def close(self) -> None:
        """Nothing is held."""

    def _post(self, payload: bytes, entry: Entry) -> Outcome:
        try:
            with urllib.request.urlopen(self._request(payload), timeout=TIMEOUT_S):  # noqa: S310
                return Outcome(Verdict.DELIVERED, entry)
        except urllib.error.HTTPError as error:
            reason = f"{self._url} answered {error.code} {error.reason}"
            return Outcome(Verdict.REJECTED if error.code in NEVER else Verdict.RETRY, entry, reason)
        except OSError as error:
            return Outcome(Verdict.RETRY, entry, f"{self._url} does not answer: {error}")

    def _request(self, payload: bytes | None) -> urllib.request.Request:
        return urllib.request.Request(self._url + ENDPOINT, data=payload, headers=self._headers)  # noqa: S310
