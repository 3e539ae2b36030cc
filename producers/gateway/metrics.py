"""What the gateway counts, for Prometheus. A registry of its own: nothing of other libraries is in it."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from lineproof.producers.gateway.bodies import BytesInFlight
from lineproof.producers.gateway.topic_writer import TopicWriter

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class GatewayMetrics:
    """Counters and gauges of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.events = Counter(
            "lineproof_gateway_events",
            "Events by what became of them: stored, spooled, unavailable, rejected or refused.",
            ["outcome"],
            registry=self.registry,
        )
        self.requests = Counter("lineproof_gateway_requests", "Answers by status.", ["status"], registry=self.registry)
        self.seconds = Histogram(
            "lineproof_gateway_request_seconds",
            "Time from the head of a request to the end of its answer, by method.",
            ["method"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "lineproof_gateway_requests_in_flight", "Requests that are not answered yet.", registry=self.registry
        )

    def watch(self, writer: TopicWriter, bytes_in_flight: BytesInFlight) -> None:
        """Add gauges that are read when they are asked for."""
        for name, text, value in (
            ("spool_events", "Events on disk that wait for the broker.", lambda: writer.spooled[0]),
            ("spool_bytes", "Their size.", lambda: writer.spooled[1]),
            ("body_bytes_in_flight", "Bytes of bodies in memory.", lambda: bytes_in_flight.used),
        ):
            Gauge(f"lineproof_gateway_{name}", text, registry=self.registry).set_function(value)
