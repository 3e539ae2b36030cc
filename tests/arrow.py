"""The columns that tables of records share, as Arrow types: for tables that tests write without Spark."""

import pyarrow as pa

COORDINATES = [
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", pa.timestamp("us", "UTC")),
]
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
BYTES = [("key", pa.binary()), ("headers", _HEADERS), ("value", pa.binary())]
