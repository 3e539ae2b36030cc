"""Which checkpoints and tables are refused (R50)."""

import pytest

from lineproof.streaming.checkpoint import Checkpoint, CheckpointError, refuse_mismatch, refuse_missing

FRESH = Checkpoint("c", None, -1, -1)
USED = Checkpoint("c", "id", last_planned_batch=5, last_finished_batch=4)


def test_what_belongs_together_goes_on() -> None:
    refuse_mismatch(FRESH, None, "t", {}, "")
    refuse_mismatch(USED, "id", "t", {}, "")  # a table that no batch had anything for
    refuse_mismatch(USED, "id", "t", {"id": 5}, "")  # written, but killed before the checkpoint was
    refuse_missing(FRESH, "t", "")


@pytest.mark.parametrize(
    ("checkpoint", "app_id", "written", "said"),
    [
        (FRESH, None, {"id": 3}, "which is missing"),
        (USED, "id", {"other": 3}, "which is another one"),
        (USED, "id", {"id": 6}, "old copy"),
    ],
)
def test_what_does_not_is_refused(
    checkpoint: Checkpoint, app_id: str | None, written: dict[str, int], said: str
) -> None:
    with pytest.raises(CheckpointError, match=said) as caught:
        refuse_mismatch(checkpoint, app_id, "t", written, "Do this.")
    assert str(caught.value).endswith("Do this.")


def test_a_table_that_was_written_to_must_be_there() -> None:
    with pytest.raises(CheckpointError, match="5 batches were written"):
        refuse_missing(USED, "t", "")
