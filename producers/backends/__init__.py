"""Lineage backends as plugins. This is what a plugin imports; docs/backends.md shows how to write one."""

from lineproof.producers.backends.http_backend import HttpBackend
from lineproof.producers.backends.plugin import InvalidBackendConfig, LineageBackendPlugin
from lineproof.producers.transports.config import HttpConfig, KafkaConfig, TransportConfig

__all__ = [
    "HttpBackend",
    "HttpConfig",
    "InvalidBackendConfig",
    "KafkaConfig",
    "LineageBackendPlugin",
    "TransportConfig",
]
