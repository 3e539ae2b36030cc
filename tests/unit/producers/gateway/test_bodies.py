"""Decompression within the limits."""

import gzip
import tracemalloc
import zlib

import pytest
import zstandard

from lineproof.producers.gateway.bodies import BytesInFlight, decompressed
from lineproof.producers.gateway.limits import GatewayLimits
from lineproof.producers.gateway.refusals import RequestRefused

LIMITS = GatewayLimits(decompressed_bytes=2**20)
TEXT = b'{"event": "x"}' * 1000


def zeros(size: int) -> bytes:
    """A gzip stream of zeros, of which never more than a megabyte is in memory."""
    compressor = zlib.compressobj(9, wbits=31)
    return b"".join([*(compressor.compress(bytes(2**20)) for _ in range(size >> 20)), compressor.flush()])


def test_bodies_are_decompressed() -> None:
    assert decompressed(TEXT, "", LIMITS) == TEXT
    assert decompressed(gzip.compress(TEXT), "gzip", LIMITS) == TEXT
    assert decompressed(gzip.compress(TEXT) + gzip.compress(TEXT), "gzip", LIMITS) == TEXT * 2
    assert decompressed(zstandard.compress(TEXT), "zstd", LIMITS) == TEXT
    assert decompressed(zstandard.ZstdCompressor().compressobj().compress(b""), "zstd", LIMITS) == b""


def test_the_limit_is_inclusive() -> None:
    for compress, encoding in ((gzip.compress, "gzip"), (zstandard.compress, "zstd")):
        assert len(decompressed(compress(bytes(2**20)), encoding, LIMITS)) == 2**20
        with pytest.raises(RequestRefused, match="more than 1048576 bytes"):
            decompressed(compress(bytes(2**20 + 1)), encoding, LIMITS)


@pytest.mark.parametrize(
    ("body", "encoding"), [(zeros(2**29), "gzip"), (zstandard.compress(bytes(2**28)), "zstd")], ids=["gzip", "zstd"]
)
def test_a_bomb_takes_no_more_memory_than_the_limit(body: bytes, encoding: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(RequestRefused) as refused:
            decompressed(body, encoding, LIMITS)
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()
    assert refused.value.status == 413


@pytest.mark.parametrize(
    ("body", "encoding", "status"),
    [
        (TEXT, "gzip", 400),
        (gzip.compress(TEXT)[:-4], "gzip", 400),
        (gzip.compress(TEXT) + b"x", "gzip", 400),
        (gzip.compress(b"") * 1000, "gzip", 400),
        (TEXT, "zstd", 400),
        (TEXT, "br", 415),
        (TEXT, "gzip, gzip", 415),
    ],
    ids=range(7),
)
def test_what_cannot_be_decompressed_is_refused(body: bytes, encoding: str, status: int) -> None:
    with pytest.raises(RequestRefused) as refused:
        decompressed(body, encoding, LIMITS)
    assert refused.value.status == status


def test_a_truncated_zstd_frame_gives_no_more_than_its_begin() -> None:
    """The JSON in it does not end, so it is refused as invalid."""
    assert TEXT.startswith(decompressed(zstandard.compress(TEXT)[:-3], "zstd", LIMITS))


def test_bytes_in_flight_are_given_back() -> None:
    flight = BytesInFlight(100)
    with flight.reservation() as first:
        first.take(60)
        with pytest.raises(RequestRefused) as refused, flight.reservation() as second:
            second.take(60)
        assert refused.value.status == 429
        assert flight.used == 60
    assert flight.used == 0
