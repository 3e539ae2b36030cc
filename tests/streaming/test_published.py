"""What becomes of a violation, as its subscribers see it (R49). That topics say what SQL says is in test_law."""

import uuid
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lineproof.streaming.job import CURATED, side_by_side
from lineproof.streaming.store import Store
from lineproof.streaming.tables import archive
from tests.histories import FACET
from tests.streaming.curated import curate
from tests.streaming.story import WORLD, dataset, event
from tests.streaming.subscriber import Subscriber
from tests.streaming.test_outcomes import ledger


def test_a_violation_that_is_mended_no_longer_stands(spark: SparkSession, tmp_path: Path) -> None:
    leaking, sound, testing = (str(uuid.UUID(int=number)) for number in (1, 2, 3))
    batches = [
        [
            event(leaking, "COMPLETE", 3, "job", run=ledger(processedCount=7)),
            event(sound, "COMPLETE", 3, "job", run=ledger()),
            event(testing, "START", 1, "tests", inputs=[with_results(kept=False, dropped=False)]),
        ],
        [
            event(leaking, None, 4, "job", run=ledger()),
            event(testing, "RUNNING", 5, "tests", inputs=[with_results(kept=True)]),
            # Late, and no news.
            event(testing, "RUNNING", 2, "tests", inputs=[with_results(kept=False, dropped=False)]),
        ],
    ]
    subscriber, root = Subscriber(), str(tmp_path)
    side_by_side(spark, Store(spark, root).create, [archive.TABLE, *(module.TABLE for module in CURATED)])
    for number, values in enumerate(batches):
        curate(spark, root, number, values, 10 * number, told=subscriber.take)
    told = [(one["kind"], one["stands"], one["verdict"], one["detail"]) for _, one in subscriber.once("violations")]
    assert sorted(told[:3]) == [
        ("ledger", True, "unbalanced", f"{WORLD}/job: the difference is 3"),
        ("quality", True, "failed test", "dropped"),
        ("quality", True, "failed test", "kept"),
    ]
    assert sorted(told[3:]) == [
        ("ledger", False, "balanced", f"{WORLD}/job: the difference is 0"),
        ("quality", False, "failed test", "dropped"),
        ("quality", False, "failed test", "kept"),
    ]
    assert {one["expectation"]: one["success"] for one in subscriber.compacted("quality").values()} == {
        "kept": True,
        "dropped": False,
    }


def with_results(**tests: bool) -> dict[str, Any]:
    """A dataset with the results of a suite."""
    results = [{"assertion": name, "success": success, "params": {"suite": "s"}} for name, success in tests.items()]
    return dataset(WORLD, "orders", inputFacets={"dataQualityAssertions": {**FACET, "assertions": results}})
