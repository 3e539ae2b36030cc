"""A schema registry: the ids it gives to our schemas, by two calls of the REST interface that Confluent documents.

Schemas are registered under the subject `TOPIC-value`. Which schema an id stands for is never taken from the registry:
it is asked for the ids of those we know.
"""

import base64
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from lineproof.schemas.avro import NAMES, Schema, newest, released
from lineproof.schemas.errors import LineproofError, suggest

TIMEOUT_S = 5
OPTIONS = ("url", "basic.auth.user.info", "bearer.auth.token", "ssl.ca.location")
"""Named as Confluent's own clients name them."""

_NO_SUCH_SUBJECT = 404


class InvalidRegistryOptions(LineproofError):
    """Options with which no registry could ever be asked."""

    exit_code = 2


class RegistryUnavailable(LineproofError):
    """The registry does not answer, or refuses."""


class Registry:
    """The registry that the options name. An id is asked for once: it never changes."""

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

    def id_of(self, topic: str, schema: Schema) -> int:
        """The id of a schema of a topic's values, which is registered if it is not yet."""
        found = self._known(topic, schema)
        if found is None:
            found = self._ids[topic, schema] = self._post(f"{_subject(topic)}/versions", schema)
        return found

    def known(self, topic: str, names: Iterable[str] = NAMES) -> dict[int, Schema]:
        """Those of our schemas, of any version, that are registered for a topic's values, by their ids."""
        ours = [schema for name in names for schema in released(name).values()]
        ids = {self._known(topic, schema): schema for schema in ours}
        return {schema_id: schema for schema_id, schema in ids.items() if schema_id is not None}

    def envelope_ids(self, topic: str) -> dict[int, int]:
        """Schema ids to versions of the envelope. The newest is registered, so that its id is known before its use."""
        self.id_of(topic, newest("envelope"))
        return {schema_id: schema.version for schema_id, schema in self.known(topic, ["envelope"]).items()}

    def _known(self, topic: str, schema: Schema) -> int | None:
        if (topic, schema) not in self._ids:
            try:
                self._ids[topic, schema] = self._post(_subject(topic), schema)
            except urllib.error.HTTPError:
                return None
        return self._ids[topic, schema]

    def _post(self, path: str, schema: Schema) -> int:
        """The id that the registry answers with. Raises HTTPError where it does not know the subject or the schema."""
        body = json.dumps({"schemaType": "AVRO", "schema": schema.text}).encode()
        request = urllib.request.Request(f"{self._url}/{path}", body, self._headers)  # noqa: S310
        context = ssl.create_default_context(cafile=self._ca_file) if self._url.startswith("https") else None
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as answer:  # noqa: S310
                return int(json.load(answer)["id"])
        except urllib.error.HTTPError as error:
            if error.code == _NO_SUCH_SUBJECT and not path.endswith("/versions"):
                raise
            said = error.read(500).decode(errors="replace")
            raise RegistryUnavailable(
                f"The schema registry at {self._url} refuses to answer for {path} ({error.code}): {said}",
                "Grant access to that subject, or register the schema there by hand; it is in `schemas/`.",
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RegistryUnavailable(
                f"The schema registry at {self._url} does not answer: {error!r}.",
                "Check that it runs, and the `schema_registry` settings.",
            ) from error


def check(options: Mapping[str, str]) -> None:
    """Refuse options that cannot be right."""
    for name in options:
        if name not in OPTIONS:
            raise InvalidRegistryOptions(f"There is no option {name} of a schema registry.", suggest(name, OPTIONS))
    url = urlsplit(options.get("url", ""))
    if url.scheme not in ("http", "https") or not url.hostname:
        raise InvalidRegistryOptions(
            "The schema registry has no address that can be used.", "Set `url` to one that begins with https://."
        )
    if url.username or url.password:
        raise InvalidRegistryOptions(
            "The schema registry's address has a password in it.", "Set `basic.auth.user.info` to USER:PASSWORD."
        )


def _subject(topic: str) -> str:
    return f"subjects/{quote(topic, safe='')}-value"
