"""Explanations of Spark's failures."""

import pytest

from lineproof.streaming.recovery.failures import explain


@pytest.mark.parametrize(
    ("report", "explanation"),
    [
        ("java.io.IOException: No space left on device", "disk is full"),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed", "credentials"),
        ("UnknownTopicOrPartitionException: This server does not host this topic-partition.", "--create-topics"),
        ("[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some partitions", "Start the job again: it then names"),
        ("TimeoutException: Timed out waiting for a node assignment", "does not answer"),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update", "Another job"),
        ("first line\nsecond line", "The job stopped: first line"),
        ("", "The job stopped: Spark reported no cause"),
        (
            "[STREAM_FAILED] Query terminated with exception: Return Message: Traceback (most recent call last):\n"
            '  File "batch.py", line 1, in write\n    fail()\nValueError: no such column\n\n SQLSTATE: XXKST',
            "The job stopped: ValueError: no such column",
        ),
    ],
)
def test_explain(report: str, explanation: str) -> None:
    assert explanation in str(explain(report))
