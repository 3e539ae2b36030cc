"""Records that fit into their topic: a broker refuses a larger record, at every repetition of its batch.

How a record is shortened depends on its content and the topic's limit alone: a repeated batch publishes the same.
"""

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StringType, StructField, StructType

from lineproof.schemas.headers import LEFT_OUT

SMALLEST_LIMIT = 4096
"""Topics that allow less are refused when the job starts: even a shortened record may not fit."""

_RECORD_BYTES, _FIELD_BYTES = 128, 10
"""What Kafka adds at most to a batch of one record, and to each field: lengths, offsets, times and checksums."""

_CHARACTERS_SHARE, _KEY_SHARE = 256, 8
"""A shortened text has at most limit/256 characters, a key limit/8 bytes. A record has 20 texts, of up to 4 bytes a
character."""
_UUID_CHARACTERS = 36
"""Also with the smallest limit, ids stay whole."""


def fits(limit: int, size: Column) -> Column:
    """Whether a record of this size fits. Compression makes data larger that is already compressed, by up to 1 %."""
    return size <= limit - limit // 50 - _RECORD_BYTES


def size_of(*parts: Column) -> Column:
    """The size of keys and values, any of which may be null."""
    return sum((F.coalesce(F.length(part), F.lit(0)) + _FIELD_BYTES for part in parts), F.lit(0).cast("bigint"))


def size_of_headers(headers: Column) -> Column:
    """The size of an array of headers."""
    return F.aggregate(
        headers,
        F.lit(0).cast("bigint"),
        lambda size, header: size + size_of(header["key"].cast("binary"), header["value"]),
    )


def shortened(fields: Iterable[StructField], limit: int) -> list[Column]:
    """The columns with the beginning of their texts, and with empty arrays."""
    return [_shortened(F.col(field.name), field.dataType, limit).alias(field.name) for field in fields]


def _shortened(column: Column, kind: DataType, limit: int) -> Column:
    if isinstance(kind, StringType):
        return F.left(column, F.lit(max(limit // _CHARACTERS_SHARE, _UUID_CHARACTERS)))
    if isinstance(kind, ArrayType):
        return F.slice(column, 1, 0)
    if isinstance(kind, StructType):
        members = (_shortened(column[part.name], part.dataType, limit).alias(part.name) for part in kind.fields)
        return F.when(column.isNotNull(), F.struct(*members))
    return column


def fitting_key(key: Column, limit: int) -> Column:
    """The key; of a key that would take a large part of the record, the SHA-256."""
    return F.when(F.length(key) <= limit // _KEY_SHARE, key).otherwise(F.sha2(key, 256).cast("binary"))


def fitting_letter(own: Column, added: Column, limit: int) -> list[Column]:
    """Key, value and headers of a dead letter, without those that are too large; a header names what is left out.

    `own` are the record's headers, `added` the headers that always stay. First the value is left out, then the key.
    """
    headers = F.concat(F.coalesce(own, F.array()), added)
    size = size_of_headers(headers)
    with_key = size + size_of(F.col("key"))
    has = {
        "value": fits(limit, with_key + size_of(F.col("value"))),
        "key": fits(limit, with_key),
        "headers": fits(limit, size),
    }
    exists = {"value": F.col("value").isNotNull(), "key": F.col("key").isNotNull(), "headers": F.lit(True)}
    names = F.concat_ws(",", *(F.when(exists[name] & ~has[name], name) for name in has))
    left_out = F.struct(F.lit(LEFT_OUT).alias("key"), names.cast("binary").alias("value"))
    kept = F.when(has["headers"], headers).otherwise(added)
    return [
        *(F.when(has[name], F.col(name)).alias(name) for name in ("key", "value")),
        F.when(F.length(names) > 0, F.concat(kept, F.array(left_out))).otherwise(kept).alias("headers"),
    ]
