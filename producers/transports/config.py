"""Where events go and how: what the settings or the plugin of a lineage backend say, as a transport takes it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from lineproof.schemas.errors import LineproofError

ENDPOINT = "/api/v1/lineage"
TIMEOUT_S = 5.0

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


class InvalidTransport(LineproofError):
    """An address, a header or a file with which no event can be sent."""

    exit_code = 2


@dataclass(frozen=True)
class TransportConfig:
    """The base of all configurations. `type` selects the transport."""

    type: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class HttpConfig(TransportConfig):
    """A backend that accepts OpenLineage by POST. Paths are appended to `url`."""

    type: ClassVar[str] = "http"

    url: str
    endpoint: str = ENDPOINT
    """Path for one event."""
    batch_endpoint: str = f"{ENDPOINT}/batch"
    """Path for an array of events. Empty: the backend has none. The same as `endpoint`: it takes arrays only."""
    batch_member: str = ""
    """The member that holds the array, for a backend whose batches are objects."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_file: str = ""
    """PEM file of the CA that signed the backend's certificate. Empty: the CAs of the system."""
    timeout_s: float = TIMEOUT_S

    def __post_init__(self) -> None:
        _check_url(self.url)
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise InvalidTransport(
                    f"The header {name!r} has characters that HTTP does not allow.",
                    "Check the header, and the API key, for line breaks and letters that are not ASCII.",
                )
        if self.ca_file and not Path(self.ca_file).is_file():
            raise InvalidTransport(f"The CA file {self.ca_file} does not exist.", "Name a PEM file.")
        if self.timeout_s <= 0:
            raise InvalidTransport(f"The timeout {self.timeout_s} is not positive.", "Give a number of seconds.")

    def address(self, path: str) -> str:
        """The URL of a path of this backend."""
        return f"{self.url.rstrip('/')}/{path.lstrip('/')}"


@dataclass(frozen=True, kw_only=True)
class KafkaConfig(TransportConfig):
    """A topic that lineproof reads. Empty: the topic and the brokers of the settings."""

    type: ClassVar[str] = "kafka"

    topic: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


def bearer(api_key: str) -> dict[str, str]:
    """The header that carries an API key. Keys from files often end with a line break."""
    return {"Authorization": f"Bearer {api_key.strip()}"} if api_key.strip() else {}


def _check_url(text: str) -> None:
    try:
        url = urlsplit(text)
        is_usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InvalidTransport(
            f"{text!r} is not the URL of a backend.", "Write a URL that begins with https:// (`emitter.url`)."
        )
    if url.username or url.password:
        raise InvalidTransport(
            f"The URL of the backend at {url.hostname} contains a user or a password.", "Set an API key instead."
        )
    if url.query or url.fragment:
        raise InvalidTransport(f"The URL {text!r} has a query or a fragment.", "Write only scheme, host and path.")
