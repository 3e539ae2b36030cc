"""The section `gateway`: the HTTP server of `lineproof serve`."""

from typing import Literal

from pydantic import Field, model_validator

from lineproof.producers.gateway.limits import MAX_JSON_DEPTH, GatewayLimits
from lineproof.schemas.durations import Duration
from lineproof.settings.sections import Interval, Section

_DEFAULT = GatewayLimits()


class GatewaySettings(Section):
    """The HTTP server of `lineproof serve`: where it listens, what it takes, and who may send."""

    host: str = Field("127.0.0.1", description="Address to listen on. Beyond this machine only with keys.")
    port: int = Field(5000, ge=0, le=65535, description="Port to listen on. 0: any free port.")
    keys_file: str = Field("", description="File of the API keys (`lineproof keys`). Default: `{home}/keys.json`.")
    tls_certificate: str = Field("", description="PEM file with the certificate chain. Empty: no TLS.")
    tls_key: str = Field("", description="PEM file with the private key of the certificate.")
    when_broker_is_down: Literal["refuse", "spool"] = Field(
        "refuse",
        description="`refuse`: answer 503, and the client sends the event again. `spool`: keep it on disk, answer 202, "
        "and deliver it later.",
    )
    acknowledge_timeout: Interval = Field(
        Duration("10s"), description="How long an answer waits until the broker has acknowledged the events."
    )
    keep_rejected: bool = Field(
        False, description="Also send what is no event to the topic, where the job makes a dead letter of it."
    )
    max_body_bytes: int = Field(_DEFAULT.body_bytes, ge=1, description="Size of a body as it is sent.")
    max_decompressed_bytes: int = Field(
        _DEFAULT.decompressed_bytes, ge=1, description="Size of a body after decompression."
    )
    max_json_depth: int = Field(_DEFAULT.json_depth, ge=10, le=MAX_JSON_DEPTH, description="How deep JSON may nest.")
    max_json_values: int = Field(
        _DEFAULT.json_values,
        ge=1000,
        description="JSON values of an event, counted as its commas and opening brackets.",
    )
    max_events: int = Field(_DEFAULT.events, ge=1, description="Events in one request.")
    request_timeout: Interval = Field(Duration("30s"), description="How long a body may take to arrive.")
    max_connections: int = Field(_DEFAULT.connections, ge=1, description="Connections at the same time.")
    max_requests_per_key: int = Field(
        _DEFAULT.requests_per_key, ge=1, description="Requests of one key at the same time."
    )
    max_bytes_in_flight: int = Field(
        _DEFAULT.bytes_in_flight, ge=1, description="Size of all bodies in memory at the same time."
    )

    @model_validator(mode="after")
    def _whole_tls(self) -> "GatewaySettings":
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise ValueError("TLS needs both gateway.tls_certificate and gateway.tls_key")
        return self

    def limits(self) -> GatewayLimits:
        """As the server takes them."""
        return GatewayLimits(
            body_bytes=self.max_body_bytes,
            decompressed_bytes=self.max_decompressed_bytes,
            json_depth=self.max_json_depth,
            json_values=self.max_json_values,
            events=self.max_events,
            request_s=self.request_timeout.seconds,
            connections=self.max_connections,
            requests_per_key=self.max_requests_per_key,
            bytes_in_flight=self.max_bytes_in_flight,
        )
