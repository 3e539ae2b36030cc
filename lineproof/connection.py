"""`lineproof.connect()`: an emitter built from the settings."""

import logging
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from lineproof.local.endpoints import client_options, registry_of
from lineproof.producers.chain import Chain
from lineproof.producers.delivery import Delivery
from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.base import EndpointUnavailable, Transport
from lineproof.producers.transports.composite import CompositeTransport
from lineproof.producers.transports.config import HttpConfig, KafkaConfig, TransportConfig, bearer
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.producers.transports.lines import ConsoleTransport, FileTransport
from lineproof.schemas.facets import FacetRegistry
from lineproof.settings import Settings, load

log = logging.getLogger(__name__)

CONFIRM_TIMEOUT_S = 5
"""How long to wait for an endpoint to answer at the start."""


def connect(config: Path | None = None, overrides: Sequence[str] = ()) -> Emitter:
    """An emitter for this service. `config` is a settings file, `overrides` are texts such as `emitter.product=impact`.

    Raises an error if the emitter is not configured. If the endpoint does not answer, that is logged, and events wait
    in the spool.
    """
    return emitter_of(load(config, overrides))


def emitter_of(settings: Settings, transport: Transport | None = None) -> Emitter:
    """An emitter with these settings; `transport` replaces the configured transports."""
    options = settings.emitter
    transport = transport or transport_of(settings)
    emitter = Emitter(
        transport,
        options.resolved_namespace(),
        facets=FacetRegistry.standard().with_user_facets(settings.facets),
        chain=Chain(settings.certificates_path),
        lineage_mode=options.mode,
        telemetry_off=frozenset(options.telemetry_off),
        strict=options.strict,
    )
    confirm(transport)
    return emitter


def transport_of(settings: Settings) -> Transport:
    """The configured transports, as one."""
    if settings.emitter.disabled:
        log.warning("The emitter is switched off (emitter.disabled, OPENLINEAGE_DISABLED): no event is sent.")
        return CompositeTransport([])
    transports = [_transport(name, settings) for name in settings.transports]
    return transports[0] if len(transports) == 1 else CompositeTransport(transports)


def confirm(transport: Transport) -> None:
    """Check that the endpoint answers. A transport with a spool may start without it; any other raises an error."""
    try:
        transport.confirm(CONFIRM_TIMEOUT_S)
    except EndpointUnavailable as error:
        if transport.fallback is None:
            raise
        log.warning("%s %s Until then, events wait in %s.", error.what, error.remedy, transport.fallback)


def backend_of(settings: Settings) -> TransportConfig:
    """The lineage backend that `plugins.lineage_backend` chooses."""
    from lineproof.producers.backends.plugin import transport_config

    backend = settings.plugins.lineage_backend
    return transport_config(backend.provider, backend.config)


def http_config(settings: Settings) -> HttpConfig:
    """The backend of the `http` transport."""
    options = settings.emitter
    return HttpConfig(
        url=options.url,
        endpoint=options.endpoint,
        batch_endpoint=f"{options.endpoint.rstrip('/')}/batch",
        headers=bearer(options.api_key),
        ca_file=options.ca_file,
    )


def _transport(name: str, settings: Settings) -> Transport:
    if name == "console":
        return ConsoleTransport()
    if name == "file":
        return FileTransport(settings.events_path)
    if name == "backend":
        provider = settings.plugins.lineage_backend.provider
        return _delivery(backend_of(settings), f"backend-{quote(provider, safe='')}", settings)
    return _delivery(http_config(settings) if name == "http" else KafkaConfig(), name, settings)


def _delivery(config: TransportConfig, spool: str, settings: Settings) -> Delivery:
    """A transport with a spool of its own."""
    path, max_bytes = settings.spool_path / spool, settings.emitter.spool_max_bytes
    if isinstance(config, HttpConfig):
        from lineproof.producers.transports.http import http_transport  # loads httpx

        return http_transport(config, path, max_bytes)
    assert isinstance(config, KafkaConfig)  # noqa: S101
    topic = config.topic or settings.topics.event_topics.first
    options, registry = client_options(settings), registry_of(settings)
    if config.options:
        options, registry = dict(config.options), None
    return kafka_transport(options, topic, path, max_bytes, registry)
