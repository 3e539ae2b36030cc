"""OpenLineage events by POST: one request, and what its answer means for each event.

No redirect is followed: neither events nor the API key go to a host that nobody configured.
"""

import ssl
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import orjson

from lineproof.producers.transports.base import DeliveryStatus, EndpointUnavailable
from lineproof.producers.transports.config import HttpConfig, InvalidTransport
from lineproof.schemas.sanitise import sanitise

EVENTS_PER_BATCH = 100
EVENTS_WITHOUT_BATCH = 8
"""How many events to take at a time where each is a request."""
BYTES_PER_BATCH = 900_000
"""Some backends refuse more than a megabyte."""
MAX_ANSWER_BYTES = 4_000_000
MAX_RETRY_AFTER_S = 300.0

REJECTED_STATUSES = frozenset({400, 409, 413, 415, 422})
"""HTTP statuses of an event that the backend will not accept the next time either."""
NO_BATCH_STATUSES = frozenset({404, 405})
_FAILED = 500
"""A backend may fail on one event. Then the events after it are sent all the same."""
_MAX_FAILURES = 8
"""If it fails on so many events in a row, it is the backend that is broken."""
_EXCERPT_CHARACTERS = 300

_without_batch: set[str] = set()
"""Batch endpoints that do not exist, as this process has seen."""


class Outcome(NamedTuple):
    """What happened to an event, why, and for how many seconds the backend asks to wait."""

    status: DeliveryStatus
    reason: str = ""
    retry_after_s: float = 0.0
    is_about_event: bool = False
    """For a RETRY: whether other events may be accepted now."""


_DELIVERED = Outcome(DeliveryStatus.DELIVERED)


class Answer(NamedTuple):
    """The status of an answer (0 if there was none), the reason to report, and the body (None if it is too large)."""

    status: int
    reason: str = ""
    body: bytes | None = b""
    retry_after_s: float = 0.0

    @property
    def is_success(self) -> bool:
        """Whether the backend has taken the request."""
        return 200 <= self.status < 300

    @property
    def outcome(self) -> Outcome:
        """What it means for every event of the request."""
        if self.is_success:
            return _DELIVERED
        status = DeliveryStatus.REJECTED if self.status in REJECTED_STATUSES else DeliveryStatus.RETRY
        return Outcome(status, self.reason, self.retry_after_s, self.status == _FAILED)


class HttpClient:
    """Posts events to one backend, on one connection. Used by one thread."""

    def __init__(self, config: HttpConfig) -> None:
        self._config = config
        self._single = config.address(config.endpoint)
        self._batch = config.address(config.batch_endpoint) if config.batch_endpoint else ""
        self._takes_arrays_only = self._single == self._batch
        self._http = httpx.Client(
            headers={"Content-Type": "application/json", "Accept-Encoding": "identity", **config.headers},
            timeout=config.timeout_s,
            limits=httpx.Limits(max_connections=1, keepalive_expiry=30),
            verify=_trusted(config.ca_file),
            follow_redirects=False,
        )

    @property
    def batch_size(self) -> int:
        """How many events to post at a time."""
        return EVENTS_PER_BATCH if self._has_batch else EVENTS_WITHOUT_BATCH

    def post(self, payloads: Sequence[bytes]) -> list[Outcome]:
        """Post events in order. Returns an outcome for each.

        If a batch is refused, its events are posted one by one, so that one bad event does not keep the others back.
        """
        if self._takes_arrays_only or (self._has_batch and len(payloads) > 1):
            outcomes = self._post_batch(payloads)
            if outcomes is not None:
                return outcomes
            outcomes = self._post_each(payloads)
            if not self._takes_arrays_only and all(outcome is _DELIVERED for outcome in outcomes):
                _without_batch.add(self._batch)  # it refuses what the other endpoint accepts
            return outcomes
        return self._post_each(payloads)

    def confirm(self, timeout_s: float) -> None:
        """Send a GET. Most HTTP statuses count as an answer, because backends differ."""
        answer = self._exchange("GET", self._single, b"", timeout_s)
        is_redirect = 300 <= answer.status < 400
        if answer.status in (0, 401) or is_redirect:
            raise EndpointUnavailable(
                f"{answer.reason}.", "Check the URL, the API key and the CA file, and that the backend runs."
            )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    @property
    def _has_batch(self) -> bool:
        return bool(self._batch) and self._batch not in _without_batch

    def _post_batch(self, payloads: Sequence[bytes]) -> list[Outcome] | None:
        """The outcomes, or None if the events have to be posted one by one."""
        answer = self._exchange("POST", self._batch, self._batch_body(payloads))
        if answer.status in NO_BATCH_STATUSES and not self._takes_arrays_only:
            _without_batch.add(self._batch)
            return None
        may_be_one_event = answer.status in REJECTED_STATUSES or answer.status == _FAILED
        if may_be_one_event and not (self._takes_arrays_only and len(payloads) == 1):
            return None
        if not answer.is_success:
            return [answer.outcome] * len(payloads)
        return outcomes_of_batch(answer.body, len(payloads), self._batch)

    def _post_each(self, payloads: Sequence[bytes]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        failures = 0
        for payload in payloads:
            outcome = self._post_one(payload)
            outcomes.append(outcome)
            failures = failures + 1 if outcome.status is DeliveryStatus.RETRY else 0
            if failures and (not outcome.is_about_event or failures == _MAX_FAILURES):
                break
        rest = len(payloads) - len(outcomes)
        return outcomes + [outcomes[-1]._replace(is_about_event=False)] * rest

    def _post_one(self, payload: bytes) -> Outcome:
        body = self._batch_body([payload]) if self._takes_arrays_only else payload
        answer = self._exchange("POST", self._single, body)
        if self._takes_arrays_only and answer.is_success:
            read = outcomes_of_batch(answer.body, 1, self._single)
            unclear = Outcome(DeliveryStatus.RETRY, f"{self._single} reports a failure without a reason", 0.0, True)
            return read[0] if read else unclear
        return answer.outcome

    def _batch_body(self, payloads: Sequence[bytes]) -> bytes:
        array = b"[" + b",".join(payloads) + b"]"
        member = self._config.batch_member
        return b"{" + orjson.dumps(member) + b":" + array + b"}" if member else array

    def _exchange(self, method: str, url: str, body: bytes, timeout_s: float | None = None) -> Answer:
        timeout_s = self._config.timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + timeout_s
        try:
            with self._http.stream(method, url, content=body, timeout=timeout_s) as response:
                content = _read(response, deadline)
        except (httpx.HTTPError, OSError) as error:
            return Answer(0, f"{url} does not answer: {sanitise(str(error)) or type(error).__name__}")
        wait_s = _retry_after(response.headers.get("Retry-After", ""))
        return Answer(response.status_code, _reason(url, response, content), content, wait_s)


def outcomes_of_batch(body: bytes | None, count: int, url: str) -> list[Outcome] | None:
    """What a successful answer to a batch says of each event. None: it does not say which events failed.

    Answers list failed events; one that lists none accepted all.
    """
    if body is None:
        return None
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return [_DELIVERED] * count
    if not isinstance(document, dict):
        return [_DELIVERED] * count
    outcomes = [_DELIVERED] * count
    failed = document.get("failed_events") or document.get("failedEvents") or []
    for event in failed if isinstance(failed, list) else []:
        index = event.get("index") if isinstance(event, dict) else None
        if type(index) is int and 0 <= index < count:
            status = DeliveryStatus.RETRY if event.get("retriable") is True else DeliveryStatus.REJECTED
            reason = f"{url} refuses it: {_excerpt(str(event.get('reason')))}"
            outcomes[index] = Outcome(status, reason, is_about_event=True)
    listed = sum(outcome is not _DELIVERED for outcome in outcomes)
    return outcomes if listed >= _claimed_failures(document) else None


def _claimed_failures(document: dict[str, Any]) -> int:
    summary = document.get("summary")
    claimed = summary.get("failed") if isinstance(summary, dict) else None
    if type(claimed) is int:
        return claimed
    return 1 if document.get("status") in ("failure", "error") else 0


def _trusted(ca_file: str) -> ssl.SSLContext:
    """The CAs to trust. Reading them again for every connection would delay the service for tens of milliseconds."""
    return _trusted_since(ca_file, Path(ca_file).stat().st_mtime_ns if ca_file else 0)


@lru_cache(maxsize=8)
def _trusted_since(ca_file: str, _modified: int) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:
        raise InvalidTransport(f"The CA file {ca_file} cannot be used: {error}.", "Name a PEM file.") from error


def _read(response: httpx.Response, deadline: float) -> bytes | None:
    """The body; None if it is too large. A body that comes too slowly is an error."""
    content = b""
    for chunk in response.iter_raw():
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            return None
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout("the answer takes too long")
    return content


def _reason(url: str, response: httpx.Response, content: bytes | None) -> str:
    """What to tell a person about an answer."""
    said = f"{url} answered {response.status_code} {response.reason_phrase}".rstrip()
    if response.is_redirect or 300 <= response.status_code < 400:
        host = _host(response.headers.get("Location", ""))
        return f"{said}, a redirect{host}; redirects are not followed, so configure the address of the backend itself"
    if response.status_code in (401, 403):
        return f"{said}: it does not accept the API key, or the key may not write; correct the key"
    excerpt = _excerpt((content or b"")[: 4 * _EXCERPT_CHARACTERS].decode(errors="replace"))
    return f"{said}: {excerpt}" if excerpt else said


def _host(location: str) -> str:
    try:
        host = urlsplit(location).hostname
    except ValueError:
        return ""
    return f" to {_excerpt(host)}" if host else ""


def _excerpt(text: str) -> str:
    """One line without secrets."""
    return " ".join(sanitise(text).split())[:_EXCERPT_CHARACTERS]


def _retry_after(text: str) -> float:
    """The header Retry-After in seconds: a number, or a date."""
    if text.strip().isdecimal():
        seconds = float(text)
    else:
        try:
            until = parsedate_to_datetime(text)
        except ValueError:
            return 0.0
        until = until if until.tzinfo else until.replace(tzinfo=timezone.utc)
        seconds = (until - datetime.now(timezone.utc)).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S)
