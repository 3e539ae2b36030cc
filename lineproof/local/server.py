"""`lineproof serve`: one ASGI application with all HTTP routes, and the process that serves it.

It has two parts that also run apart: the gateway takes events, and the read part answers from the tables. The guard
around both has checked the key and its role before a route is called.
"""

import asyncio
import contextlib
import ipaddress
import logging
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import Enum

import uvicorn
from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.types import ASGIApp

from lineproof.local.endpoints import client_options, registry_of
from lineproof.local.installation import installation_of
from lineproof.local.server_process import register, unregister
from lineproof.producers.gateway.guard import Guard, refusal
from lineproof.producers.gateway.key_ring import KeyRing
from lineproof.producers.gateway.keys import KeysFile
from lineproof.producers.gateway.limits import KEEP_ALIVE_S
from lineproof.producers.gateway.me import me_routes
from lineproof.producers.gateway.metrics import GatewayMetrics
from lineproof.producers.gateway.protocol import limited_protocol
from lineproof.producers.gateway.refusals import RequestRefused
from lineproof.producers.gateway.routes import Gateway, readiness, without_broker
from lineproof.producers.gateway.topic_writer import TopicWriter, WhenBrokerIsDown
from lineproof.schemas.errors import LineproofError
from lineproof.serving.api.app import add_read_routes
from lineproof.serving.api.marquez.routes import marquez_routes, unknown_api_paths
from lineproof.serving.open_tables import OpenTables
from lineproof.serving.web.routes import web_routes
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaUnavailable

log = logging.getLogger(__name__)

DRAIN_S = 30
"""How long requests in progress have to end after a signal."""
_BACKLOG = 512
_OTHER_FILES = 200
"""Of the process itself, the broker's connections and the spool; and connections that are being refused."""


class ServerNotStarted(LineproofError):
    """The server cannot listen as the settings say."""


class Part(str, Enum):
    """A part of the server."""

    GATEWAY = "gateway"
    READ = "read"


@dataclass(frozen=True)
class Listening:
    """A socket that is bound, and its address for clients."""

    socket: socket.socket
    url: str


def serve(
    settings: Settings,
    started: Callable[[str], None],
    *,
    insecure: bool = False,
    only: Part | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until a signal. `started` gets the address when requests are answered."""
    keys = KeyRing(KeysFile(settings.keys_path))
    if not insecure and not keys.are_required and not _is_local(settings.gateway.host):
        raise ServerNotStarted(
            f"There are no keys, and {settings.gateway.host} can be reached from other machines.",
            "Make a key with `lineproof keys add NAME`, or listen on 127.0.0.1, or say --insecure: everyone who "
            "reaches the port can write events and read the tables then.",
        )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # clients' faults are in the access log
    _allow_connections(settings.gateway.max_connections)
    listening = bind(settings)
    writer = None if only is Part.READ else _writer_if_there_is_a_broker(settings, say, must_have=only is Part.GATEWAY)
    tables = None if only is Part.GATEWAY else OpenTables(settings.tables_path, settings.home / "spill")
    server = _Server(_uvicorn_config(settings, application(writer, keys, settings, tables)))

    def ready() -> None:
        register(settings.home, listening.url)
        started(listening.url)

    try:
        asyncio.run(server.run_until_signal(listening.socket, ready))
    finally:
        unregister(settings.home)
        listening.socket.close()


def application(
    writer: TopicWriter | None, keys: KeyRing, settings: Settings, tables: OpenTables | None = None
) -> ASGIApp:
    """All routes, with the guard around them. Without a writer no events are taken, without tables nothing is read."""
    metrics, limits = GatewayMetrics(), settings.gateway.limits()

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if writer:
            writer.start()
        yield
        if writer:
            await asyncio.to_thread(writer.close)
        if tables:
            tables.close()

    app = FastAPI(title="lineproof", lifespan=lifespan, docs_url=None, redoc_url=None)
    if writer:
        gateway = Gateway(writer, limits, keys, metrics, keep_rejected=settings.gateway.keep_rejected)
        app.include_router(gateway.router())
    else:
        app.include_router(without_broker())
    app.include_router(me_routes(keys))
    if tables:
        add_read_routes(app, tables, installation_of(settings))
        app.include_router(marquez_routes(tables))
        app.include_router(web_routes())

    async def refused(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestRefused)  # noqa: S101
        return refusal(error)

    app.add_exception_handler(RequestRefused, refused)

    @app.get("/livez", response_model=None, summary="Whether the process answers")
    async def livez() -> Response:
        return Response("ok\n", media_type="text/plain")

    @app.get("/readyz", response_model=None, summary="Whether events can be stored")
    async def readyz() -> Response:
        return await readiness(writer)

    @app.get("/metrics", response_model=None, summary="Counts for Prometheus")
    async def prometheus() -> Response:
        return Response(generate_latest(metrics.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app.include_router(unknown_api_paths())
    return Guard(app, keys, limits, metrics)


def _writer_if_there_is_a_broker(
    settings: Settings, say: Callable[[str], None], *, must_have: bool
) -> TopicWriter | None:
    """The writer; None if no broker is known and the tables can be served without one."""
    try:
        return topic_writer(settings)
    except KafkaUnavailable as error:
        if must_have:
            raise
        say(f"Events are not taken. {error}")
        return None


def topic_writer(settings: Settings) -> TopicWriter:
    """The writer to the topic that producers publish to."""
    return TopicWriter(
        client_options(settings),
        settings.topics.event_topics.first,
        settings.spool_path / "gateway",
        when_down=WhenBrokerIsDown(settings.gateway.when_broker_is_down),
        timeout_s=settings.gateway.acknowledge_timeout.seconds,
        max_spool_bytes=settings.emitter.spool_max_bytes,
        registry=registry_of(settings),
    )


def bind(settings: Settings) -> Listening:
    """Take the port before anything else is started, so that the error says what is wrong."""
    host, port = settings.gateway.host, settings.gateway.port
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        raise ServerNotStarted(
            f"The server cannot listen on {host}:{port}: {error.strerror}.",
            "Choose another port with --port, or --port 0 for any free one.",
        ) from error
    scheme = "https" if settings.gateway.tls_certificate else "http"
    name = f"[{host}]" if ":" in host else host
    return Listening(bound, f"{scheme}://{name}:{bound.getsockname()[1]}")


def _uvicorn_config(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    gateway = settings.gateway
    config = uvicorn.Config(
        app,
        http=limited_protocol(gateway.limits()),
        ws="none",
        lifespan="on",
        loop="asyncio",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=DRAIN_S,
        backlog=_BACKLOG,
        ssl_certfile=gateway.tls_certificate or None,
        ssl_keyfile=gateway.tls_key or None,
    )
    try:
        config.load()
    except OSError as error:  # ssl.SSLError is one
        raise ServerNotStarted(
            f"The TLS files cannot be used: {error}.", "Correct gateway.tls_certificate and gateway.tls_key."
        ) from error
    return config


class _Server(uvicorn.Server):
    """Ends in order after SIGTERM or Ctrl-C, and at once after the second Ctrl-C."""

    async def run_until_signal(self, listener: socket.socket, ready: Callable[[], None]) -> None:
        """Serve, and call `ready` when requests are answered."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        serving = asyncio.ensure_future(self.serve([listener]))
        while not self.started and not serving.done():
            await asyncio.wait([serving], timeout=0.02)
        if self.started:
            ready()
        await serving

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The loop has the signals."""
        yield


def _allow_connections(wanted: int) -> None:
    """Raise the limit of open files, if there is room for it: without a free one, no connection is accepted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
