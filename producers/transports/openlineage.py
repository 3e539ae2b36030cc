"""lineproof as a transport of the standard OpenLineage client: Airflow, dbt-ol and others use it by configuration.

```yaml
transport:
  type: lineproof.producers.transports.openlineage.LineproofTransport
  config:
    bootstrap.servers: broker-1:9092
```

With `url` instead of `config`, events go to an OpenLineage backend by HTTP.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attr
from openlineage.client.client import Event
from openlineage.client.serde import Serde
from openlineage.client.transport import Config, Transport

from lineproof.producers.delivery import Delivery
from lineproof.producers.event_sink import EventSink
from lineproof.producers.spooling.spool import SpoolUnusable
from lineproof.producers.spooling.state_directory import default_spool
from lineproof.producers.transports.config import ENDPOINT, HttpConfig, InvalidTransport, bearer
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.errors import LineproofError, nearest
from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.registry import InvalidRegistryOptions, Registry, check

log = logging.getLogger(__name__)

BROKERS = "bootstrap.servers"
TOPIC = "lineage.events"
KAFKA_ONLY, HTTP_ONLY = ("config", "topic", "schema_registry"), ("url", "endpoint", "api_key", "ca_file")
WHO_SENDS = (
    BROKERS,
    "sasl.username",
    "sasl.oauthbearer.client.id",
    "sasl.kerberos.principal",
    "ssl.certificate.location",
)
"""Options of Kafka that tell targets apart: events of one must not be sent to another, or by another user."""


class InvalidOptions(LineproofError):
    """The client's configuration has missing, unknown or contradictory options."""


@attr.define
class LineproofConfig(Config):
    """The options under `transport` in the client's configuration.

    For Kafka `config` and `topic`, as in the client's own Kafka transport, and `schema_registry`. For a backend `url`,
    `endpoint`, `api_key` and `ca_file`. `spool` is the directory where events wait while the endpoint is unavailable.
    """

    config: dict[str, str] = attr.field(factory=dict, repr=False)
    topic: str = TOPIC
    schema_registry: dict[str, str] = attr.field(factory=dict, repr=False)
    url: str = ""
    endpoint: str = ENDPOINT
    api_key: str = attr.field(default="", repr=False)
    ca_file: str = ""
    spool: str = ""

    @classmethod
    def from_dict(cls, params: dict[str, Any]) -> "LineproofConfig":
        """Check the client's configuration. Raises InvalidOptions with everything that is wrong."""
        known = [field.name for field in attr.fields(cls)]
        given = {name: value for name, value in params.items() if name != "type" and value is not None}
        maps = ("config", "schema_registry")
        problems = [_unknown(name, known) for name in given if name not in known]
        for name in given.keys() & set(maps):
            if isinstance(given[name], Mapping):
                given[name] = _flat(given[name])
            else:
                problems.append(f"transport.{name} is not a mapping of options")
                given[name] = {}
        problems += _contradictions(given)
        if given.get("schema_registry"):
            try:
                check(given["schema_registry"])
            except InvalidRegistryOptions as error:
                problems.append(f"transport.schema_registry: {error.what.rstrip('.')}")
        if problems:
            raise InvalidOptions(f"{'; '.join(problems)}.", f"The options of this transport: {', '.join(known)}.")
        options: dict[str, Any] = {name: value if name in maps else str(value) for name, value in given.items()}
        return cls(**options)

    @property
    def http(self) -> HttpConfig:
        """The backend at `url`."""
        return HttpConfig(
            url=self.url,
            endpoint=self.endpoint,
            batch_endpoint=f"{self.endpoint.rstrip('/')}/batch",
            headers=bearer(self.api_key),
            ca_file=self.ca_file,
        )

    @property
    def spool_path(self) -> Path:
        """The spool, by default below the user's state directory."""
        if self.spool:
            return Path(self.spool).expanduser()
        try:
            if self.url:
                return default_spool(urlsplit(self.url).netloc, "http", self.url.rstrip("/"), self.endpoint)
            return default_spool(self.config[BROKERS], "kafka", *(self.config.get(name, "") for name in WHO_SENDS))
        except RuntimeError as error:
            raise InvalidOptions(
                "This user has no home directory, so there is no place where events can wait.",
                "Set transport.spool to a directory.",
            ) from error


class LineproofTransport(Transport):
    """Sends the client's events through the spool. No call waits for the broker or the backend."""

    kind = "lineproof"
    config_class = LineproofConfig

    def __init__(self, config: LineproofConfig) -> None:
        try:
            transport = _delivery(config)
        except SpoolUnusable as error:
            raise SpoolUnusable(
                error.what, "Set transport.spool to a directory that this process may write to."
            ) from error
        except InvalidTransport as error:
            raise InvalidOptions(f"transport: {error.what}", error.remedy) from error
        self._sink = EventSink(transport, FacetRegistry.standard())

    def emit(self, event: Event) -> None:
        """Publish one event as the client serialises it. An invalid event is logged and counted."""
        with self._sink.guard():
            self._sink.publish_json(Serde.to_json(event).encode())

    def close(self, timeout: float = -1) -> bool:
        """Flush and stop. Events that are not delivered in time stay in the spool."""
        return self._sink.close(timeout if timeout >= 0 else 30)


def _delivery(config: LineproofConfig) -> Delivery:
    if config.url:
        from lineproof.producers.transports.http import http_transport

        return http_transport(config.http, config.spool_path)
    registry = Registry(config.schema_registry) if config.schema_registry else None
    return kafka_transport(config.config, config.topic, config.spool_path, registry=registry)


def _unknown(name: str, known: list[str]) -> str:
    closest = nearest(name, known)
    return f"transport.{name} is unknown" + (f" (did you mean {closest}?)" if closest else "")


def _contradictions(given: Mapping[str, Any]) -> list[str]:
    """What is missing, and what is there but has no effect."""
    has_url, has_brokers = bool(given.get("url")), BROKERS in given.get("config", {})
    if not has_url and not has_brokers:
        return [f"neither transport.config.{BROKERS} (Kafka) nor transport.url (HTTP) is set"]
    useless = KAFKA_ONLY if has_url else HTTP_ONLY
    target = "url" if has_url else f"config.{BROKERS}"
    return [f"transport.{name} has no effect with transport.{target}" for name in useless if given.get(name)]


def _flat(options: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Options as flat text: environment variables nest names with dots, and YAML has numbers and booleans."""
    flat: dict[str, str] = {}
    for name, value in options.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = str(value).lower() if isinstance(value, bool) else str(value)
    return flat
