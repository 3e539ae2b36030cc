"""lineproof as a transport of the standard OpenLineage client: Airflow, dbt-ol and others use it by configuration.

```yaml
transport:
  type: lineproof.producers.transports.openlineage.LineproofTransport
  topic: lineage.events
  spool: /var/spool/lineproof
  config:
    bootstrap.servers: broker-1:9092
  schema_registry:  # optional
    url: https://registry:8081
```
"""

import logging
from pathlib import Path
from typing import Any

import attr
from openlineage.client.client import Event
from openlineage.client.serde import Serde
from openlineage.client.transport import Config, Transport

from lineproof.producers.event_sink import EventSink
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.registry import Registry

log = logging.getLogger(__name__)


class IncompleteConfig(LineproofError):
    """The client's configuration has a missing or unknown option."""


@attr.define
class LineproofConfig(Config):
    """The options under `transport` in the client's configuration; `config` and `topic` as in its own Kafka transport.

    `spool` is the directory where events wait while the broker is unavailable.
    """

    config: dict[str, str]
    spool: str
    topic: str = "lineage.events"
    schema_registry: dict[str, str] = attr.field(factory=dict)

    @classmethod
    def from_dict(cls, params: dict[str, Any]) -> "LineproofConfig":
        """Check the client's configuration: raises IncompleteConfig for a missing or unknown option."""
        known = {field.name for field in attr.fields(cls)}
        given = {name: value for name, value in params.items() if name != "type"}
        if "bootstrap.servers" not in (given.get("config") or {}):
            raise IncompleteConfig("transport.config.bootstrap.servers is not set.", "Name the Kafka brokers there.")
        if not given.get("spool"):
            raise IncompleteConfig(
                "transport.spool is not set.",
                "Name a directory where events can wait for the broker.",
            )
        if unknown := given.keys() - known:
            raise IncompleteConfig(
                f"transport.{sorted(unknown)[0]} is unknown.", f"Use one of {', '.join(sorted(known))}."
            )
        return cls(**{**given, "config": {name: str(value) for name, value in given["config"].items()}})


class LineproofTransport(Transport):
    """Sends the client's events in lineproof's envelope, through the spool. No call waits for the broker."""

    kind = "lineproof"
    config_class = LineproofConfig

    def __init__(self, config: LineproofConfig) -> None:
        registry = Registry(config.schema_registry) if config.schema_registry else None
        transport = kafka_transport(config.config, config.topic, Path(config.spool), registry=registry)
        self._sink = EventSink(transport, FacetRegistry.standard())

    def emit(self, event: Event) -> None:
        """Publish one event as the client serialises it. An invalid event is logged and counted."""
        with self._sink.guard():
            self._sink.publish_json(Serde.to_json(event).encode())

    def close(self, timeout: float = -1) -> bool:
        """Flush and stop. Events that are not delivered in time stay in the spool."""
        return self._sink.close(timeout if timeout >= 0 else 30)
