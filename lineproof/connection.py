"""`lineproof.connect()`: an emitter built from the settings."""

import logging
from collections.abc import Sequence
from pathlib import Path

from lineproof.local.endpoints import client_options, registry_of
from lineproof.producers.chain import Chain
from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.base import EndpointUnavailable, Transport
from lineproof.producers.transports.composite import CompositeTransport
from lineproof.producers.transports.config import HttpConfig, bearer
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
    transports = [_transport(name, settings) for name in settings.emitter.transports]
    return transports[0] if len(transports) == 1 else CompositeTransport(transports)


def confirm(transport: Transport) -> None:
    """Check that the endpoint answers. A transport with a spool may start without it; any other raises an error."""
    try:
        transport.confirm(CONFIRM_TIMEOUT_S)
    except EndpointUnavailable as error:
        if transport.fallback is None:
            raise
        log.warning("%s %s Until then, events wait in %s.", error.what, error.remedy, transport.fallback)


def _transport(name: str, settings: Settings) -> Transport:
    options = settings.emitter
    if name == "console":
        return ConsoleTransport()
    if name == "file":
        return FileTransport(settings.events_path)
    spool = settings.spool_path / name
    if name == "http":
        from lineproof.producers.transports.http import http_transport

        return http_transport(http_config(settings), spool, options.spool_max_bytes)
    kafka, registry = client_options(settings), registry_of(settings)
    return kafka_transport(kafka, settings.topics.event_topics.first, spool, options.spool_max_bytes, registry)


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
