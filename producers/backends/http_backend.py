"""The base of backends that accept OpenLineage over HTTP."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lineproof.producers.backends.plugin import InvalidBackendConfig, LineageBackendPlugin, check_options
from lineproof.producers.transports.config import ENDPOINT, TIMEOUT_S, HttpConfig, TransportConfig, bearer

OPTIONS = ("api_key", "headers", "endpoint", "batch_endpoint", "ca_file", "timeout")


class HttpBackend(LineageBackendPlugin):
    """Takes `url` and, if needed, OPTIONS. A subclass sets the paths that its product documents."""

    endpoint: ClassVar[str] = ENDPOINT
    batch_endpoint: ClassVar[str] = ""
    """Empty: no batches. The same as `endpoint`: arrays only."""
    batch_member: ClassVar[str] = ""
    more_options: ClassVar[tuple[str, ...]] = ()

    def get_transport_config(self, config: Mapping[str, Any]) -> TransportConfig:
        """The configured host with the paths of this product."""
        check_options(config, ["url"], [*OPTIONS, *self.more_options])
        headers = config.get("headers") or {}
        if not isinstance(headers, Mapping):
            raise InvalidBackendConfig(
                "headers is not a mapping of names to values.", "Write `headers: {Name: value}`."
            )
        try:
            timeout_s = float(config.get("timeout") or TIMEOUT_S)
        except (TypeError, ValueError) as error:
            raise InvalidBackendConfig("timeout is not a number of seconds.", "Write a number such as 5.") from error
        api_key = str(config.get("api_key") or "")
        endpoint = str(config.get("endpoint") or self.endpoint_for(config))
        batch_endpoint = endpoint if self.batch_endpoint == self.endpoint else self.batch_endpoint
        return HttpConfig(
            url=str(config["url"]),
            endpoint=endpoint,
            batch_endpoint=str(config.get("batch_endpoint", batch_endpoint)),
            batch_member=self.batch_member,
            headers={**self.key_headers(api_key), **{str(name): str(value) for name, value in headers.items()}},
            ca_file=str(config.get("ca_file") or ""),
            timeout_s=timeout_s,
        )

    def endpoint_for(self, config: Mapping[str, Any]) -> str:  # noqa: ARG002
        """The path, where it depends on the configuration."""
        return self.endpoint

    def key_headers(self, api_key: str) -> dict[str, str]:
        """The headers that carry the API key."""
        return bearer(api_key)
