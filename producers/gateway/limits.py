"""What one request, one key and all requests together may take."""

from dataclasses import dataclass

MIB = 2**20

HEAD_TIMEOUT_S = 10.0
"""How long a client has to send the head of a request, from its first byte."""
KEEP_ALIVE_S = 75
"""How long a connection may be idle between two requests."""
MAX_JSON_DEPTH = 700
"""More could reach Python's limit of recursion in the JSON parser."""


VALUES_PER_BODY = 4
"""How many times the JSON values of one event a body may have: all are scanned, but never all parsed at once."""


@dataclass(frozen=True)
class GatewayLimits:
    """The limits. Every one of them is checked while a request is read, before memory is taken for it."""

    body_bytes: int = 20 * MIB
    decompressed_bytes: int = 64 * MIB
    json_depth: int = 500
    json_values: int = 2_000_000
    """Of one event, counted as its commas and opening brackets: small values take much more memory than their text.
    20 MiB of schema facets have 1.7 million. A body may have `VALUES_PER_BODY` times as many."""
    events: int = 10_000
    request_s: float = 30
    connections: int = 500
    requests_per_key: int = 100
    bytes_in_flight: int = 256 * MIB
