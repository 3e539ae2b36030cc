"""An emitter from the settings: `lineproof.connect()`."""

import logging
from collections.abc import Sequence
from pathlib import Path

from lineproof.local.endpoints import client_options, registry_of
from lineproof.producers.chain import Chain
from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.base import EndpointUnavailable, Transport
from lineproof.producers.transports.composite import CompositeTransport
from lineproof.producers.transports.http import http_transport
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.producers.transports.lines import ConsoleTransport, FileTransport
from lineproof.schemas.facets import FacetRegistry
from lineproof.settings import Settings, load

log = logging.getLogger(__name__)

CONFIRM_TIMEOUT_S = 5


def connect(config: Path | None = None, overrides: Sequence[str] = ()) -> Emitter:
    """An emitter as the settings say: `config` a file, `overrides` texts such as `lineage.product=impact`.

    Raises where lineage is not configured. Where the endpoint does not answer, that is logged, and events wait in the
    spool.
    """
    return emitter_of(load(config, overrides))


def emitter_of(settings: Settings, transport: Transport | None = None) -> Emitter:
    """The same from settings that are loaded already, or with another transport than they say."""
    lineage = settings.lineage
    transport = transport or transport_of(settings)
    emitter = Emitter(
        transport,
        lineage.resolved_namespace(),
        facets=FacetRegistry.standard().with_user_facets(settings.facets),
        chain=Chain(settings.certificates_path),
        lineage_mode=lineage.mode,
        telemetry_off=frozenset(lineage.telemetry_off),
        strict=lineage.strict,
    )
    confirm(transport)
    return emitter


def transport_of(settings: Settings) -> Transport:
    """Where the settings say that events go."""
    if settings.lineage.disabled:
        log.warning("Lineage is switched off (lineage.disabled, OPENLINEAGE_DISABLED): no event will be sent.")
        return CompositeTransport([])
    transports = [_transport(name, settings) for name in settings.lineage.transports]
    return transports[0] if len(transports) == 1 else CompositeTransport(transports)


def confirm(transport: Transport) -> None:
    """Make sure that events have somewhere to go: an endpoint that answers, or a place to wait."""
    try:
        transport.confirm(CONFIRM_TIMEOUT_S)
    except EndpointUnavailable as error:
        if transport.fallback is None:
            raise
        log.warning("%s %s Until that is done, events wait in %s.", error.what, error.remedy, transport.fallback)


def _transport(name: str, settings: Settings) -> Transport:
    lineage = settings.lineage
    if name == "console":
        return ConsoleTransport()
    if name == "file":
        return FileTransport(settings.events_path)
    spool = settings.spool_path / name
    if name == "http":
        return http_transport(lineage.url, lineage.api_key, spool, lineage.spool_max_bytes)
    options, registry = client_options(settings), registry_of(settings)
    return kafka_transport(options, settings.topics.events, spool, lineage.spool_max_bytes, registry)
