"""The Kafka broker and the schema registry that the settings name, or the embedded broker if it runs."""

import socket

from lineproof.local.broker_state import broker_address
from lineproof.schemas.registry import Registry
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaUnavailable


def client_options(settings: Settings) -> dict[str, str]:
    """The options of a Kafka client: as configured, or those of the embedded broker."""
    if settings.kafka.get("bootstrap.servers"):
        return dict(settings.kafka)
    address = broker_address(settings.home / "broker")
    if address is None:
        raise KafkaUnavailable(
            "No Kafka broker is configured, and the embedded broker is not running.",
            "Set kafka.bootstrap.servers (or LINEPROOF_KAFKA_BOOTSTRAP_SERVERS), or run `lineproof up --detach`.",
        )
    return {**settings.kafka, "bootstrap.servers": address}


def registry_of(settings: Settings) -> Registry | None:
    """The schema registry, where one is configured."""
    return Registry(settings.schema_registry) if settings.schema_registry else None


def schema_ids(settings: Settings) -> dict[int, int]:
    """The version of the envelope by schema id, from the registry and from the setting `schema_ids`."""
    registry = registry_of(settings)
    topics = settings.topics.event_topics
    registered: dict[int, int] = {}
    if registry:
        for topic in topics.names or (topics.first,):  # with patterns alone, there is no subject to ask for
            registered |= registry.envelope_ids(topic)
    return {**registered, **settings.schema_ids}


def is_free(host: str, port: int) -> bool:
    """Whether this process could listen there now."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return True
    except OSError:
        return False
