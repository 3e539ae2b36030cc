"""Counters for Prometheus, where the service has prometheus-client."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineproof.producers.emitter import Emitter

_exported: list[Any] = []


def export(emitters: Iterable["Emitter"]) -> None:
    """Register one collector over all emitters of this process with the default registry."""
    if _exported:
        return
    try:
        from prometheus_client import REGISTRY
    except ImportError:
        return
    _exported.append(_Collector(emitters))
    REGISTRY.register(_exported[0])


class _Collector:
    def __init__(self, emitters: Iterable["Emitter"]) -> None:
        self._emitters = emitters

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        snapshots = [emitter.stats for emitter in self._emitters]
        events = CounterMetricFamily(
            "lineproof_emitter_events", "Lineage events by what became of them.", labels=["outcome"]
        )
        for outcome, number in {
            "emitted": sum(one.emitted for one in snapshots),
            "refused": sum(one.refused for one in snapshots),
            "delivered": sum(one.delivery.delivered for one in snapshots),
            "rejected": sum(one.delivery.rejected for one in snapshots),
            "lost": sum(one.delivery.lost for one in snapshots),
        }.items():
            events.add_metric([outcome], number)
        yield events
        errors = CounterMetricFamily("lineproof_emitter_delivery_errors", "Errors that delivery met and goes on after.")
        errors.add_metric([], sum(one.delivery.errors for one in snapshots))
        yield errors
        pending = GaugeMetricFamily("lineproof_emitter_pending_events", "Events that wait for delivery.")
        pending.add_metric([], sum(one.delivery.pending for one in snapshots))
        yield pending
        waiting = GaugeMetricFamily("lineproof_emitter_spool_bytes", "What the events that wait take on disk.")
        waiting.add_metric([], sum(one.delivery.pending_bytes for one in snapshots))
        yield waiting
