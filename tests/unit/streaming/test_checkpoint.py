"""Which checkpoints and tables are refused."""

import pytest

from lineproof.streaming.recovery.checkpoint import (
    Checkpoint,
    CheckpointError,
    refuse_mismatch,
    refuse_missing,
    refuse_older_archive,
)

FRESH = Checkpoint("c", None, -1, -1)
USED = Checkpoint("c", "id", last_planned_batch=5, last_finished_batch=4)


def test_checkpoint_and_table_that_belong_together_are_accepted() -> None:
    refuse_mismatch(FRESH, None, "t", {}, "")
    refuse_mismatch(USED, "id", "t", {}, "")  # no batch had rows for this table
    refuse_mismatch(USED, "id", "t", {"id": 5}, "")  # written, but killed before the checkpoint was updated
    refuse_missing(FRESH, "t", "")


@pytest.mark.parametrize(
    ("checkpoint", "app_id", "written", "message"),
    [
        (FRESH, None, {"id": 3}, r"which is missing\. It was last written by batch 3 of id\."),
        (USED, "id", {"other": 3}, r"which has the id id\. It was last written by batch 3 of other\."),
        (USED, "id", {"id": 6}, "ends at batch 5, but the table t has batch 6: the checkpoint is an old copy"),
    ],
)
def test_checkpoint_and_table_that_do_not_belong_together_are_refused(
    checkpoint: Checkpoint, app_id: str | None, written: dict[str, int], message: str
) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        refuse_mismatch(checkpoint, app_id, "t", written, "Do this.")
    assert str(caught.value).endswith("Do this.")


def test_a_table_that_was_written_to_must_exist() -> None:
    with pytest.raises(CheckpointError, match="5 batches were written"):
        refuse_missing(USED, "t", "")


def test_an_archive_must_have_every_finished_batch() -> None:
    refuse_older_archive(FRESH, "t", {}, moved_at=-1)
    refuse_older_archive(USED, "t", {"id": 5}, moved_at=-1)  # written, but killed before the checkpoint was updated
    refuse_older_archive(USED, "t", {"id": 2}, moved_at=4)  # batch 4 skipped lost records
    with pytest.raises(CheckpointError, match="ends at batch 3, but the checkpoint c has finished batch 4") as caught:
        refuse_older_archive(USED, "t", {"id": 3}, moved_at=2)
    assert "--restore-checkpoint" in caught.value.remedy
