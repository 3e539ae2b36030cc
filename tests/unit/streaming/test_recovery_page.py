"""docs/recovery.md quotes the messages of lineproof exactly."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lineproof.schemas.errors import LineproofError
from lineproof.streaming.recovery.checkpoint import (
    RESTORE,
    START_OVER,
    Checkpoint,
    CheckpointError,
    refuse_mismatch,
    refuse_missing,
    refuse_older_archive,
)
from lineproof.streaming.recovery.failures import explain
from lineproof.streaming.recovery.topic import ArchivePosition, SourceTopic, Topic, TopicLoss, find_losses

PAGE = Path(__file__).parents[3] / "docs" / "recovery.md"
USED = Checkpoint("c", "id", last_planned_batch=5, last_finished_batch=5)
POSITION = ArchivePosition(SourceTopic("events", "id-1", "events"), 6, {0: 10})


def refusals() -> list[LineproofError]:
    found: list[LineproofError] = [explain("No space left on device"), explain("TimeoutException")]
    for topic in (Topic("events", "id-1", {0: (11, 12)}), Topic("events", "id-2", {0: (0, 1)}), Topic("b", "", {})):
        found.append(TopicLoss(find_losses({"events": POSITION}, [topic])))
    refused: list[Callable[[], None]] = [
        lambda: refuse_mismatch(Checkpoint("c", None, -1, -1), None, "t", {"id": 5}, RESTORE),
        lambda: refuse_mismatch(USED, "id", "t", {"other": 5}, RESTORE),
        lambda: refuse_mismatch(USED, "id", "t", {"id": 6}, RESTORE),
        lambda: refuse_missing(USED, "t", START_OVER),
        lambda: refuse_older_archive(USED, "t", {"id": 4}, -1),
    ]
    for refuse in refused:
        with pytest.raises(CheckpointError) as error:
            refuse()
        found.append(error.value)
    return found


def test_every_quote_is_a_message_and_every_message_is_quoted() -> None:
    messages = [error.what for error in refusals()]
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("|")][2:]
    quotes = [quote for row in rows for quote in re.findall(r"`([^`]+)`", row[2])]
    assert len(quotes) >= len(rows) - 1
    for quote in quotes:
        assert any(quote in message for message in messages), quote
    for message in messages:
        assert any(quote in message for quote in quotes), message


def test_every_option_it_names_is_offered_by_a_refusal() -> None:
    remedies = " ".join(error.remedy for error in refusals())
    for option in set(re.findall(r"--[a-z]+-[a-z]+", PAGE.read_text())):
        assert option in remedies
