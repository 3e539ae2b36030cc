"""A memory transport with helpers for assertions."""

import json
from typing import Any

from lineproof.producers.transports.memory import MemoryTransport


class Memory(MemoryTransport):
    """Keeps the events of a test."""

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(envelope.payload) for envelope in self.envelopes]

    @property
    def types(self) -> list[str | None]:
        return [envelope.event_type for envelope in self.envelopes]

    def facet(self, key: str, position: int = -1) -> Any:
        return self.documents[position]["run"]["facets"][key]
