"""Options of Spark's Kafka source that can be set under `source`, and those that have another place."""

from collections.abc import Iterable

_CHECKPOINT = "the checkpoint and `--accept-loss` decide where ingest continues"
_OURS = {
    "subscribe": "set topics.events",
    "subscribepattern": "set topics.events",
    "assign": "set topics.events",
    "startingoffsets": _CHECKPOINT,
    "startingtimestamp": _CHECKPOINT,
    "startingoffsetsbytimestamp": _CHECKPOINT,
    "startingoffsetsbytimestampstrategy": _CHECKPOINT,
    "endingoffsets": _CHECKPOINT,
    "endingtimestamp": _CHECKPOINT,
    "endingoffsetsbytimestamp": _CHECKPOINT,
    "failondataloss": "the job always stops when records are lost, and names them",
    "includeheaders": "the archive always has the headers",
    "maxoffsetspertrigger": "set max_offsets_per_trigger",
    "minoffsetspertrigger": "set max_offsets_per_trigger: a batch starts when it is full, or after `trigger`",
    "maxtriggerdelay": "set trigger",
}
"""Options that the job sets itself, in lower case as Spark compares them, and what to do instead."""


def check_source_options(options: Iterable[str]) -> None:
    """Refuse options that the job sets itself: it relies on them."""
    for name in options:
        lower = name.lower()
        if lower.startswith("kafka."):
            raise ValueError(
                f"{name} is an option of the Kafka client: set it under `kafka`, without the prefix kafka."
            )
        if lower in _OURS:
            raise ValueError(f"{name} is set by the job: {_OURS[lower]}")
