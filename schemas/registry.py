"""A client of a schema registry, with two calls of Confluent's REST API: look up and register a schema.

Schemas are registered under the subject `TOPIC-value`. A schema is never read from the registry: it is only asked for
the ids of the schemas that this release has.
"""

import base64
import ssl
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from lineproof.schemas.avro import NAMES, Schema, newest, released
from lineproof.schemas.errors import LineproofError, suggest

TIMEOUT_S = 5
OPTIONS = ("url", "basic.auth.user.info", "bearer.auth.token", "ssl.ca.location")
"""The names that Confluent's own clients use."""

_NO_SUCH_SUBJECT = 404


class InvalidRegistryOptions(LineproofError):
    """The options do not name a schema registry, or one of them is unknown."""

    exit_code = 2


class RegistryUnavailable(LineproofError):
    """The registry does not answer, or refuses the request."""


class _NotRegistered(Exception):
    """The registry does not know the subject, or the schema in it."""


class Registry:
    """A client of the registry that the options name. It caches ids, because an id never changes."""

    def __init__(self, options: Mapping[str, str]) -> None:
        check(options)
        self._url = options["url"].rstrip("/")
        self._headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        if user := options.get("basic.auth.user.info"):
            self._headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"
        elif token := options.get("bearer.auth.token"):
            self._headers["Authorization"] = f"Bearer {token}"
        self._ca_file = options.get("ssl.ca.location")
        self._ids: dict[tuple[str, Schema], int] = {}

    def register(self, topic: str, schema: Schema) -> int:
        """The id of a schema for the values of a topic. Registers the schema if necessary."""
        schema_id = self._look_up(topic, schema)
        if schema_id is None:
            schema_id = self._ids[topic, schema] = self._post(f"{_subject(topic)}/versions", schema)
        return schema_id

    def registered(self, topic: str, names: Iterable[str] = NAMES) -> dict[int, Schema]:
        """Our schemas, of all versions, that are registered for the values of a topic, by their ids."""
        ours = [schema for name in names for schema in released(name).values()]
        ids = {self._look_up(topic, schema): schema for schema in ours}
        return {schema_id: schema for schema_id, schema in ids.items() if schema_id is not None}

    def envelope_ids(self, topic: str) -> dict[int, int]:
        """Schema ids and their envelope versions. Registers the newest version, to know its id before it is used."""
        self.register(topic, newest("envelope"))
        return {schema_id: schema.version for schema_id, schema in self.registered(topic, ["envelope"]).items()}

    def _look_up(self, topic: str, schema: Schema) -> int | None:
        if (topic, schema) not in self._ids:
            try:
                self._ids[topic, schema] = self._post(_subject(topic), schema)
            except _NotRegistered:
                return None
        return self._ids[topic, schema]

    def _post(self, path: str, schema: Schema) -> int:
        """The id in the registry's answer. Raises _NotRegistered if it does not know the subject or the schema.

        No redirect is followed: the password goes to no other host. Every call is a connection of its own, because a
        forked process must not share one, and calls are few.
        """
        import httpx  # a tenth of a second, which commands without a registry need not wait for

        body = {"schemaType": "AVRO", "schema": schema.text}
        try:
            trusted = ssl.create_default_context(cafile=self._ca_file)
            answer = httpx.post(
                f"{self._url}/{path}", json=body, headers=self._headers, timeout=TIMEOUT_S, verify=trusted
            )
            if answer.is_success:
                return int(answer.json()["id"])
        except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError) as error:
            raise RegistryUnavailable(
                f"The schema registry at {self._url} does not answer: {error!r}.",
                "Check that it runs, and the `schema_registry` settings.",
            ) from error
        if answer.status_code == _NO_SUCH_SUBJECT and not path.endswith("/versions"):
            raise _NotRegistered
        if answer.is_redirect:
            raise RegistryUnavailable(
                f"The schema registry at {self._url} answers {path} with a redirect, which is not followed.",
                "Set `url` to the address of the registry itself.",
            )
        raise RegistryUnavailable(
            f"The schema registry at {self._url} refuses {path} ({answer.status_code}): {answer.text[:500]}",
            "Grant access to that subject, or register the schema yourself; it is in `schemas/`.",
        )


def check(options: Mapping[str, str]) -> None:
    """Refuse unknown options and addresses that cannot be used."""
    for name in options:
        if name not in OPTIONS:
            raise InvalidRegistryOptions(f"A schema registry has no option {name}.", suggest(name, OPTIONS))
    url = urlsplit(options.get("url", ""))
    if url.scheme not in ("http", "https") or not url.hostname:
        raise InvalidRegistryOptions(
            "The address of the schema registry is missing or not valid.",
            "Set `url` to an address that begins with https://.",
        )
    if url.username or url.password:
        raise InvalidRegistryOptions(
            "The address of the schema registry contains a password.", "Set `basic.auth.user.info` to USER:PASSWORD."
        )


def _subject(topic: str) -> str:
    return f"subjects/{quote(topic, safe='')}-value"
