"""When a query has stalled, and what the heartbeat says about it."""

from lineproof.streaming.query_states import FinishedBatch, QueryState, QueryStates

STALLED_AFTER_S = 600.0


def query() -> QueryState:
    return QueryState("curate", started_at=0.0)


def test_a_batch_that_runs_for_too_long_is_reported_once_and_its_end_once() -> None:
    state = query()
    state.observe(100, is_active=True, has_advanced=False)
    assert state.check(700, STALLED_AFTER_S) is None
    state.observe(701, is_active=True, has_advanced=False)
    line = state.check(701, STALLED_AFTER_S)
    assert line == "Query curate has stalled: its batch has run for 10 min, since 1970-01-01 00:01:40 UTC."
    assert state.check(800, STALLED_AFTER_S) is None
    assert state.document(800)["state"] == "stalled"
    state.observe(801, is_active=True, has_advanced=True)
    assert state.check(801, STALLED_AFTER_S) == "Query curate makes progress again."
    assert state.check(802, STALLED_AFTER_S) is None
    assert state.document(802)["state"] == "running"


def test_a_query_that_waits_for_input_has_not_stalled() -> None:
    state = query()
    state.observe(0, is_active=True, has_advanced=False)
    state.observe(1, is_active=False, has_advanced=True)
    assert state.check(100_000, STALLED_AFTER_S) is None
    assert state.document(100_000)["state"] == "waiting"


def test_one_batch_after_the_other_is_progress() -> None:
    state = query()
    for now in range(0, 7_200, 60):
        state.observe(now, is_active=True, has_advanced=True)
        assert state.check(now, STALLED_AFTER_S) is None


def test_a_batch_may_take_longer_if_the_last_ones_did() -> None:
    state = query()
    state.finished.append(FinishedBatch(0, rows=1, seconds=500, ended_at=500))
    state.observe(500, is_active=True, has_advanced=True)
    assert state.check(1_999, STALLED_AFTER_S) is None
    assert state.check(2_001, STALLED_AFTER_S) is not None


def test_the_heartbeat_has_the_last_batch_and_the_rate_of_the_last_minutes() -> None:
    states = QueryStates(STALLED_AFTER_S)
    state = states.of("ingest", now=1_000)
    state.position = {"lineage.events": {"0": 7}}
    state.finished += [
        FinishedBatch(0, rows=9_000, seconds=1.0, ended_at=1_100),
        FinishedBatch(1, rows=600, seconds=2.0, ended_at=2_000),
    ]
    assert states.of("ingest", now=5_000) is state
    assert states.document(2_000) == {
        "ingest": {
            "state": "waiting",
            "since": None,
            "batch": 1,
            "rows": 600,
            "seconds": 2.0,
            "ended_at": 2_000,
            "records_per_second": 2.0,
            "position": {"lineage.events": {"0": 7}},
        }
    }
