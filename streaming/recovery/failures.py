"""What a failed query means, and what to do about it.

Spark reports every failure of a query as one long text. The causes people meet are told by a few words in it.
"""

from lineproof.schemas.errors import LineproofError


class JobFailed(LineproofError):
    """A query stopped. Nothing is lost: the next start repeats the batch it stopped in."""


DATA_LOSS = ("KAFKA_DATA_LOSS", "Some data may have been lost", "OffsetOutOfRangeException")

_CAUSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("No space left on device", "Disk quota exceeded"),
        "The disk is full.",
        "Free space where `tables` and `checkpoints` are, or move them; then start the job again.",
    ),
    (
        ("SaslAuthenticationException", "Authentication failed", "SslAuthenticationException"),
        "The broker refused the job's credentials.",
        "Check security.protocol, sasl.mechanism, sasl.username and sasl.password under `kafka`.",
    ),
    (
        ("TopicAuthorizationException", "GroupAuthorizationException"),
        "The broker does not let this user read or write the topic.",
        "Grant READ on the events topic and WRITE on the dead-letter topic.",
    ),
    (
        DATA_LOSS,
        "The topic no longer had records that the job was about to read.",
        "Start the job again: what is gone for good is then named, with what to do.",
    ),
    (
        ("UnknownTopicOrPartitionException",),
        "The topic does not exist.",
        "Create it, or start the job with --create-topics.",
    ),
    (
        ("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",),
        "A table is not the one that the checkpoint of the next query has read from.",
        "Point `tables` and `checkpoints` at the pair that belongs together. Or remove the checkpoints `curate` and "
        "`graph` and all tables but `archive`: they are rebuilt from it.",
    ),
    (
        ("DELTA_UNSUPPORTED_FEATURES", "DELTA_INVALID_PROTOCOL_VERSION"),
        "A table needs a newer Delta than this release of lineproof has.",
        "Use the release that wrote it, a newer one.",
    ),
    (
        ("CONCURRENT_STREAM_LOG_UPDATE", "ConcurrentAppendException", "Multiple streaming queries are"),
        "Another job is writing to the same tables.",
        "Run one job per set of tables: stop the other one.",
    ),
    (
        ("RecordTooLargeException",),
        "A dead letter is larger than the dead-letter topic takes.",
        "Raise max.message.bytes of that topic, or set topics.dead_letters to an empty text: the "
        "dead_letters table has it in any case.",
    ),
    (
        ("TimeoutException", "No resolvable bootstrap urls", "Failed to create new KafkaAdminClient"),
        "The broker does not answer.",
        "Check that it runs and that kafka.bootstrap.servers names it; then start the job again.",
    ),
)


def is_data_loss(report: str) -> bool:
    """Whether the topic did not have what a batch wanted."""
    return any(sign in report for sign in DATA_LOSS)


def explain(report: str) -> JobFailed:
    """The failure in words a person can act on."""
    for signs, what, remedy in _CAUSES:
        if any(sign in report for sign in signs):
            return JobFailed(what, remedy)
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    return JobFailed(
        f"The job stopped: {lines[0] if lines else 'no cause was given'}",
        "Nothing is lost: the next start repeats the batch. The log has the whole story; -v shows it here.",
    )
