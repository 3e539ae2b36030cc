"""The backends that come with lineproof, with the paths that their documentation names."""

from collections.abc import Mapping
from typing import Any

from lineproof.producers.backends.http_backend import HttpBackend
from lineproof.producers.backends.plugin import InvalidBackendConfig, check_options
from lineproof.producers.transports.config import ENDPOINT, KafkaConfig, TransportConfig


class Marquez(HttpBackend):
    """Marquez takes one event per request."""


class OpenMetadata(HttpBackend):
    """OpenMetadata takes run events only; a batch is an object. The key is the JWT of a bot."""

    endpoint = "/api/v1/openlineage/lineage"
    batch_endpoint = "/api/v1/openlineage/lineage/batch"
    batch_member = "events"


class Atlan(HttpBackend):
    """Atlan has a path for every kind of connection. The namespace of the jobs must be the connection's name."""

    more_options = ("connector",)

    def endpoint_for(self, config: Mapping[str, Any]) -> str:
        """The path of the connector, such as `airflow` or `spark`."""
        return f"/events/openlineage/{config.get('connector') or 'generic-openlineage'}{ENDPOINT}"


class DataHub(HttpBackend):
    """The metadata service (GMS) of DataHub takes one event per request."""

    endpoint = f"/openapi/openlineage{ENDPOINT}"


class Correlator(HttpBackend):
    """Correlator takes arrays only, and says for each event whether it was accepted."""

    endpoint = batch_endpoint = f"{ENDPOINT}/events"

    def key_headers(self, api_key: str) -> dict[str, str]:
        """Correlator does not take bearer tokens."""
        return {"X-Api-Key": api_key.strip()} if api_key.strip() else {}


class Lineproof(HttpBackend):
    """lineproof itself: the gateway at `url`, or a topic."""

    batch_endpoint = f"{ENDPOINT}/batch"

    def get_transport_config(self, config: Mapping[str, Any]) -> TransportConfig:
        """The gateway, if there is a `url`. Else the topic; without options, the topic and brokers of the settings."""
        if "url" in config:
            return super().get_transport_config(config)
        check_options(config, [], ["topic", "kafka"])
        options = config.get("kafka") or {}
        if not isinstance(options, Mapping):
            raise InvalidBackendConfig("kafka is not a mapping of options.", "Write `kafka: {bootstrap.servers: …}`.")
        return KafkaConfig(
            topic=str(config.get("topic") or ""), options={str(name): str(value) for name, value in options.items()}
        )
