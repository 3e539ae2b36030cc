"""The routes of the gateway: OpenLineage events in, an answer when the broker has them."""

import gc
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import anyio
from anyio import CapacityLimiter, fail_after, to_thread
from fastapi import APIRouter, Request, Response

from lineproof.producers.gateway.bodies import TOO_LARGE, BytesInFlight, Reservation, decompressed, read_body
from lineproof.producers.gateway.events import GatewayEvent, read_event
from lineproof.producers.gateway.key_ring import KeyRing
from lineproof.producers.gateway.keys import Key
from lineproof.producers.gateway.limits import GatewayLimits
from lineproof.producers.gateway.metrics import GatewayMetrics
from lineproof.producers.gateway.refusals import RequestRefused
from lineproof.producers.gateway.splitting import Body, split
from lineproof.producers.gateway.topic_writer import Answer, Outcome, TopicWriter
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.schemas.avro import CONFLUENT_MARKER, SINGLE_OBJECT_MARKER

log = logging.getLogger(__name__)

KEY = "lineproof.key"
"""Where the key of a request is in its ASGI scope."""
COUNTS = "lineproof.counts"
"""Where the numbers for the access log are."""
DEFECTS_HEADER = "Lineproof-Defects"

_SMALL = 2**16
_SMALL_DECOMPRESSED = 2**18
"""Bodies up to this size are read in the event loop: a thread would cost more than it saves."""
_COPIES = 2
"""An event is in memory as it came, and in its envelope."""
_RETRY_AFTER_S = 5


Route = Callable[..., Awaitable[Response]]


class _Read(NamedTuple):
    """One event of a request with what it is."""

    payload: bytes
    event: GatewayEvent | RequestRefused


class Gateway:
    """Takes events from requests and stores them."""

    def __init__(
        self,
        writer: TopicWriter,
        limits: GatewayLimits,
        keys: KeyRing,
        metrics: GatewayMetrics,
        *,
        keep_rejected: bool = False,
    ) -> None:
        self._writer, self._limits, self._keys, self._metrics = writer, limits, keys, metrics
        self._keep_rejected = keep_rejected
        self._bytes = BytesInFlight(limits.bytes_in_flight)
        self._small_limits = replace(limits, decompressed_bytes=min(_SMALL_DECOMPRESSED, limits.decompressed_bytes))
        self._large_bodies = CapacityLimiter(1)  # so that only one of them is unpacked at a time
        self._emitter_id = str(uuid.uuid4())
        metrics.watch(writer, self._bytes)

    def router(self) -> APIRouter:
        """The routes of OpenLineage's API."""
        return _router(self.one_or_many, self.many)

    async def one_or_many(self, request: Request) -> Response:
        """Store one event or an array of events."""
        return await self._post(request, must_be_array=False)

    async def many(self, request: Request) -> Response:
        """Store an array of events."""
        return await self._post(request, must_be_array=True)

    async def _post(self, request: Request, *, must_be_array: bool) -> Response:
        key: Key | None = request.scope.get(KEY)
        with self._bytes.reservation() as reservation:
            try:
                with fail_after(self._limits.request_s):
                    sent = await read_body(request, self._limits, reservation)
            except TimeoutError as error:
                raise _too_slow(self._limits) from error
            encoding = request.headers.get("content-encoding", "").strip().lower()
            is_array, read = await self._read(sent, encoding, key, reservation)
            request.scope[COUNTS] = {"bytes": len(sent), "events": len(read)}
            del sent
            if must_be_array and not is_array:
                raise RequestRefused(
                    400, "not_an_array", "The body is no array.", "Send an array here, or one event to /api/v1/lineage."
                )
            return await self._stored(read, key, is_array=is_array)

    async def _read(
        self, sent: bytes, encoding: str, key: Key | None, reservation: Reservation
    ) -> tuple[bool, list[_Read]]:
        small = self._small(sent, encoding)
        if small is not None:
            body = split(small, self._limits)
            self._charge(key, body)
            return body.is_array, self._events(body, key)
        body = await to_thread.run_sync(self._split, sent, encoding, limiter=self._large_bodies)
        reservation.take(_COPIES * sum(map(len, body.payloads)))  # before this waits for its turn, with others
        self._charge(key, body)
        return body.is_array, await to_thread.run_sync(self._many_events, body, key, limiter=self._large_bodies)

    def _small(self, sent: bytes, encoding: str) -> bytes | None:
        """The decompressed body, if it is small enough for the event loop."""
        if len(sent) > _SMALL:
            return None
        try:
            return decompressed(sent, encoding, self._small_limits)
        except RequestRefused as refused:
            if refused.status != TOO_LARGE:
                raise
            return None

    def _split(self, sent: bytes, encoding: str) -> Body:
        return split(decompressed(sent, encoding, self._limits), self._limits)

    def _charge(self, key: Key | None, body: Body) -> None:
        if key:
            self._keys.charge(key, len(body.payloads))

    def _events(self, body: Body, key: Key | None) -> list[_Read]:
        return [_Read(payload, self._event(payload, key)) for payload in body.payloads]

    def _many_events(self, body: Body, key: Key | None) -> list[_Read]:
        """Without the garbage collector: all others wait while a large event is parsed, and it took 0.7 s instead of
        0.2 s for two million lists.
        """
        gc.disable()
        try:
            return self._events(body, key)
        finally:
            gc.enable()

    def _event(self, payload: bytes, key: Key | None) -> GatewayEvent | RequestRefused:
        try:
            event = read_event(payload, self._emitter_id)
            if key and not key.has_all_namespaces:
                _refuse_foreign(event, key)
        except RequestRefused as refused:
            # Kept until the answer is written: the frames of a traceback would keep the documents as well.
            refused.__cause__ = refused.__context__ = None
            return refused.with_traceback(None)
        return event

    async def _stored(self, read: Sequence[_Read], key: Key | None, *, is_array: bool) -> Response:
        principal = key.name if key else None
        events = [one.event for one in read]
        records = [SpooledRecord(event.key, event.value) for event in events if isinstance(event, GatewayEvent)]
        answers = iter(await self._writer.store(records, principal))
        outcomes = [event if isinstance(event, RequestRefused) else next(answers) for event in events]
        await self._keep(read, key)
        for outcome in outcomes:
            label = "refused" if isinstance(outcome, RequestRefused) else outcome.outcome.value
            self._metrics.events.labels(label).inc()
        failures = {index: failure for index, outcome in enumerate(outcomes) if (failure := _failure(outcome))}
        headers = _defects_header(events)
        is_spooled = any(isinstance(outcome, Answer) and outcome.outcome is Outcome.SPOOLED for outcome in outcomes)
        if not is_array:
            if failures:
                raise failures[0]
            return Response(status_code=202 if is_spooled else 201, headers=headers)
        if not failures:
            return Response(status_code=202 if is_spooled else 204, headers=headers)
        return _batch_answer(len(events), failures, headers)

    async def _keep(self, read: Sequence[_Read], key: Key | None) -> None:
        """Send what is no event to the topic as it is, where the job makes a dead letter of it.

        Not for a key that is bound to namespaces, nor for what the job would read as an envelope: nobody has checked
        what is in it.
        """
        if not self._keep_rejected or (key and not key.has_all_namespaces):
            return
        envelopes = (SINGLE_OBJECT_MARKER, CONFLUENT_MARKER)
        kept = [
            SpooledRecord(b"", payload)
            for payload, event in read
            if isinstance(event, RequestRefused) and payload and not payload.startswith(envelopes)
        ]
        if kept:
            await self._writer.store(kept, key.name if key else None)


def without_broker() -> APIRouter:
    """The same routes where no broker is known: every event is refused."""

    async def refuse() -> Response:
        raise RequestRefused(
            503,
            "no_broker",
            "This server only reads: it was started without a Kafka broker.",
            "Set kafka.bootstrap.servers, or run `lineproof up`, and start the server again.",
        )

    return _router(refuse, refuse)


def _router(one_or_many: Route, many: Route) -> APIRouter:
    router = APIRouter(tags=["OpenLineage"])
    schema = {"requestBody": {"required": True, "content": {"application/json": {}}}}
    for path, function, summary in (
        ("/api/v1/lineage", one_or_many, "Store one event, or an array of events"),
        ("/api/v1/lineage/batch", many, "Store an array of events"),
        ("/api/v1/lineage/events", many, "Store an array of events"),
    ):
        router.add_api_route(
            path, function, methods=["POST"], summary=summary, response_model=None, openapi_extra=schema
        )
    return router


def _refuse_foreign(event: GatewayEvent, key: Key) -> None:
    """Refuse an event that the key may not write, or of which readers could see another namespace."""
    if event.has_duplicate_keys:
        raise RequestRefused(
            403,
            "ambiguous_namespace",
            f"An object in the event has the same key twice, and the key {key.name} is bound to namespaces.",
            "Write each key once.",
        )
    for namespace in event.namespaces:
        if not key.may_use(namespace):
            raise RequestRefused(
                403,
                "foreign_namespace",
                f"The key {key.name} may not write to the namespace {namespace[:100]!r}; its namespaces are "
                f"{', '.join(key.namespaces)}.",
                "Use the key of that namespace's team, or make one with `lineproof keys add NAME --namespace …`.",
                field="job.namespace",
            )


def _failure(outcome: Answer | RequestRefused) -> RequestRefused | None:
    """Why an event is not stored; None if it is."""
    if isinstance(outcome, RequestRefused):
        return outcome
    if outcome.outcome is Outcome.UNAVAILABLE:
        return RequestRefused(
            503,
            "broker_unavailable",
            f"The broker did not acknowledge the event: {outcome.reason}.",
            "Send it again. If it had arrived all the same, it counts once.",
            retry_after_s=_RETRY_AFTER_S,
        )
    if outcome.outcome is Outcome.REJECTED:
        return RequestRefused(
            413,
            "record_too_large",
            f"The broker refuses the event: {outcome.reason}.",
            "Send smaller events, or raise max.message.bytes of the topic.",
        )
    return None


def _batch_answer(received: int, failures: dict[int, RequestRefused], headers: dict[str, str]) -> Response:
    retriable = sum(failure.is_retriable for failure in failures.values())
    document: dict[str, Any] = {
        "status": "error" if len(failures) == received else "partial_success",
        "summary": {
            "received": received,
            "successful": received - len(failures),
            "failed": len(failures),
            "retriable": retriable,
            "non_retriable": len(failures) - retriable,
        },
        "failed_events": [
            {"index": index, "reason": failure.what, "retriable": failure.is_retriable, **_details(failure)}
            for index, failure in failures.items()
        ],
    }
    if retriable == received:
        return _json(document, 503, {**headers, "Retry-After": str(_RETRY_AFTER_S)})
    return _json(document, 200, headers)


def _details(failure: RequestRefused) -> dict[str, str]:
    return {name: text for name, text in failure.document().items() if name != "message"}


def _defects_header(events: Sequence[GatewayEvent | RequestRefused]) -> dict[str, str]:
    codes = {defect.value for event in events if isinstance(event, GatewayEvent) for defect in event.defects}
    return {DEFECTS_HEADER: ", ".join(sorted(codes))} if codes else {}


def _json(document: dict[str, Any], status: int, headers: dict[str, str]) -> Response:
    return Response(json.dumps(document), status, headers, "application/json")


def _too_slow(limits: GatewayLimits) -> RequestRefused:
    return RequestRefused(
        408,
        "too_slow",
        f"The body did not arrive within {limits.request_s:g} s.",
        "Send fewer events in a request, or raise gateway.request_timeout.",
    )


async def readiness(writer: TopicWriter | None) -> Response:
    """Whether events can be stored now. A server without a broker is ready to be read."""
    if writer is None:
        return _json({"status": "reads only"}, 200, {})
    problem = await anyio.to_thread.run_sync(writer.confirm, 2.0)
    if problem is None:
        return _json({"status": "ok"}, 200, {})
    if writer.has_spool:
        return _json({"status": "spooling", "broker": problem}, 200, {})
    return _json({"status": "broker unavailable", "broker": problem}, 503, {"Retry-After": str(_RETRY_AFTER_S)})
