"""Spark's failures in words a person can act on."""

import pytest

from lineproof.streaming.recovery.failures import explain


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("java.io.IOException: No space left on device", "disk is full"),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed", "credentials"),
        ("UnknownTopicOrPartitionException: This server does not host this topic-partition.", "--create-topics"),
        ("[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some partitions", "Start the job again: what is gone"),
        ("TimeoutException: Timed out waiting for a node assignment", "does not answer"),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update", "Another job"),
        ("first line\nsecond line", "The job stopped: first line"),
    ],
)
def test_explain(report: str, said: str) -> None:
    assert said in str(explain(report))
