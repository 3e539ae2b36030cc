"""Prometheus counters of all emitters in this process, if prometheus-client is installed."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineproof.producers.event_sink import EventSink

_exported: list[Any] = []


def export(sinks: Iterable["EventSink"]) -> None:
    """Register one collector for all sinks of this process in the default registry."""
    if _exported:
        return
    try:
        from prometheus_client import REGISTRY
    except ImportError:
        return
    _exported.append(_Collector(sinks))
    REGISTRY.register(_exported[0])


class _Collector:
    def __init__(self, sinks: Iterable["EventSink"]) -> None:
        self._sinks = sinks

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        snapshots = [sink.stats for sink in self._sinks]
        events = CounterMetricFamily("lineproof_emitter_events", "Lineage events by outcome.", labels=["outcome"])
        for outcome, number in {
            "emitted": sum(stats.emitted for stats in snapshots),
            "refused": sum(stats.refused for stats in snapshots),
            "delivered": sum(stats.delivery.delivered for stats in snapshots),
            "rejected": sum(stats.delivery.rejected for stats in snapshots),
            "lost": sum(stats.delivery.lost for stats in snapshots),
        }.items():
            events.add_metric([outcome], number)
        yield events
        errors = CounterMetricFamily("lineproof_emitter_delivery_errors", "Delivery errors; delivery is retried.")
        errors.add_metric([], sum(stats.delivery.errors for stats in snapshots))
        yield errors
        pending = GaugeMetricFamily("lineproof_emitter_pending_events", "Events that wait for delivery.")
        pending.add_metric([], sum(stats.delivery.pending for stats in snapshots))
        yield pending
        spooled = GaugeMetricFamily("lineproof_emitter_spool_bytes", "Disk space used by events that wait.")
        spooled.add_metric([], sum(stats.delivery.pending_bytes for stats in snapshots))
        yield spooled
