"""Explain why a query failed, and what to do about it.

Spark reports every failure of a query as one long text. Known causes are recognised by words in it.
"""

import re

from lineproof.schemas.errors import LineproofError


class JobFailed(LineproofError):
    """A query failed. Nothing is lost: the next start repeats the batch that failed."""


DATA_LOSS = ("KAFKA_DATA_LOSS", "Some data may have been lost", "OffsetOutOfRangeException")

_CAUSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("No space left on device", "Disk quota exceeded"),
        "The disk is full.",
        "Free space where `tables` and `checkpoints` are, or move them. Then start the job again.",
    ),
    (
        ("SaslAuthenticationException", "Authentication failed", "SslAuthenticationException"),
        "The broker refused the job's credentials.",
        "Check security.protocol, sasl.mechanism, sasl.username and sasl.password under `kafka`, or the client "
        "certificate, or the OAuth client.",
    ),
    (
        ("TopicAuthorizationException", "GroupAuthorizationException"),
        "The user is not authorized to read or write the topic.",
        "Grant READ on the events topic and WRITE on the dead-letter topic.",
    ),
    (
        DATA_LOSS,
        "The topic no longer had the records that the job was about to read.",
        "Start the job again: it then names the lost records, and what to do.",
    ),
    (
        ("UnknownTopicOrPartitionException",),
        "The topic does not exist.",
        "Create it, or start the job with --create-topics.",
    ),
    (
        ("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",),
        "A query reads another table than the one its checkpoint belongs to.",
        "Point `tables` and `checkpoints` at directories that belong together. Or start once with --rebuild: all "
        "tables except the archive are made again from it.",
    ),
    (
        ("DELTA_UNSUPPORTED_FEATURES", "DELTA_INVALID_PROTOCOL_VERSION"),
        "A table needs a newer version of Delta than this release of lineproof uses.",
        "Use the newer release of lineproof that wrote it.",
    ),
    (
        ("CONCURRENT_STREAM_LOG_UPDATE", "ConcurrentAppendException", "Multiple streaming queries are"),
        "Another job is writing to the same tables.",
        "Stop the other job: only one job may write to a set of tables.",
    ),
    (
        ("RecordTooLargeException",),
        "A topic now allows smaller records than when the job started.",
        "Start the job again: it then shortens the records that are too large.",
    ),
    (
        ("TimeoutException", "No resolvable bootstrap urls", "Failed to create new KafkaAdminClient"),
        "The broker does not answer.",
        "Check that it runs and that kafka.bootstrap.servers is right. Then start the job again.",
    ),
)


_EXCEPTION = re.compile(r"^\w.*", re.MULTILINE)
"""The first line after the indented lines of a Python traceback."""


def is_data_loss(report: str) -> bool:
    """Whether the topic did not have the records of a batch."""
    return any(words in report for words in DATA_LOSS)


def is_known(report: str) -> bool:
    """Whether the report names a cause that is known, and is not a record."""
    return is_data_loss(report) or any(word in report for words, _, _ in _CAUSES for word in words)


def explain(report: str) -> JobFailed:
    """An error that says what happened and what to do."""
    for words, what, remedy in _CAUSES:
        if any(word in report for word in words):
            return JobFailed(what, remedy)
    return JobFailed(
        f"The job stopped: {summary(report)}",
        "Nothing is lost: the next start repeats the batch. The job's log has the stack trace; -v prints it.",
    )


def summary(report: str) -> str:
    """The line that says what happened: the exception of our own code, if it raised one, or else the first line."""
    _, _, traceback = report.partition("Traceback (most recent call last):\n")
    lines = (line.strip() for line in (*_EXCEPTION.findall(traceback), *report.splitlines()))
    return next(filter(None, lines), "Spark reported no cause")
