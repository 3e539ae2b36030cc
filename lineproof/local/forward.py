"""A forward, as the settings configure it: `lineproof forward`."""

from datetime import timezone
from typing import Literal

from lineproof.connection import backend_of
from lineproof.local.endpoints import client_options, schema_ids
from lineproof.local.stop_signal import StopSignal
from lineproof.producers.backends.plugin import installed_backends, transport_config
from lineproof.producers.transports.config import HttpConfig, TransportConfig, bearer
from lineproof.producers.transports.http_client import HttpClient
from lineproof.schemas.durations import moment
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings
from lineproof.topics.forward import Forward
from lineproof.topics.forward_sources import ArchiveSource, ForwardSource, TopicSource
from lineproof.topics.forward_state import ForwardState

SourceName = Literal["archive", "topic"]


class NoTarget(LineproofError):
    """There is no backend that events can be forwarded to."""

    exit_code = 2


def target_of(settings: Settings, to: str | None) -> HttpConfig:
    """The backend: a URL, the name of a provider, or the backend of the settings."""
    chosen = settings.plugins.lineage_backend
    if to is None and not chosen.provider:
        raise NoTarget(
            "No backend is named, and none is configured.",
            f"Name a URL or one of {', '.join(installed_backends())}, or set plugins.lineage_backend.",
        )
    config: TransportConfig
    if to is None:
        config = backend_of(settings)
    elif "://" in to:
        options = settings.emitter
        is_own = to.rstrip("/") == options.url.rstrip("/")  # the key must not go to another host
        config = HttpConfig(
            url=to,
            endpoint=options.endpoint,
            batch_endpoint=f"{options.endpoint.rstrip('/')}/batch",
            headers=bearer(options.api_key) if is_own else {},
            ca_file=options.ca_file,
        )
    else:
        config = transport_config(to, chosen.config if chosen.provider in ("", to) else {})
    if not isinstance(config, HttpConfig):
        raise NoTarget(f"{to or chosen.provider} is a topic here.", "Use `lineproof replay --to topic`, or name a URL.")
    return config


def state_of(settings: Settings, config: HttpConfig, source: SourceName, since: str | None) -> ForwardState:
    """How far this forward has come."""
    read = settings.tables_path if source == "archive" else _topics(settings)
    purpose = {"source": source, "from": read, "to": config.address(config.endpoint), "since": since}
    begin = moment(since).astimezone(timezone.utc).isoformat() if since else None
    return ForwardState(settings.home, purpose, begin)


def source_of(settings: Settings, source: SourceName, state: ForwardState) -> ForwardSource:
    """What is forwarded."""
    if source == "archive":
        return ArchiveSource(settings.tables_path, settings.home, state.since)
    begin = moment(state.since) if state.since else None
    return TopicSource(client_options(settings), settings.topics.event_topics, begin, settings.isolation_level)


def forward_of(
    settings: Settings, config: HttpConfig, source: ForwardSource, state: ForwardState, stop: StopSignal
) -> Forward:
    """A forward that reads records in every framing."""
    return Forward(source, HttpClient(config), state, schema_ids(settings), stop)


def _topics(settings: Settings) -> str:
    return f"{client_options(settings)['bootstrap.servers']} {settings.topics.events}"
