"""The histories that benchmarks run on."""

from collections import Counter

from lineproof.bench.generate import RETRIED_AFTER, History
from lineproof.schemas.envelope import Envelope, UnreadableRecord, decode
from lineproof.schemas.openlineage import Event, InvalidEvent, parse


def test_the_same_seed_gives_the_same_records() -> None:
    assert list(History(7).records(500)) == list(History(7).records(500))
    assert list(History(7).records(500)) != list(History(8).records(500))


def test_all_are_events_of_the_size_of_real_ones() -> None:
    records = list(History().records(5000))
    events = [parse(payload(value)) for _, value in records]
    assert all(key == event.key for (key, _), event in zip(records, events, strict=True))
    kinds = Counter(event.event_type for event in events)
    assert kinds.keys() == {"START", "RUNNING", "COMPLETE", "FAIL"}
    jobs = Counter(event.job_name for event in events)
    assert jobs.most_common(1)[0][1] > 20 * (len(events) / 400)
    sizes = sorted(len(value) for _, value in records)
    assert 1500 < sizes[len(sizes) // 2] < 2500
    assert sizes[-1] > 10_000


def test_runs_that_fail_are_tried_again() -> None:
    events = [parse(payload(value)) for _, value in History().records(5000)]
    failed = [event for event in events if event.event_type == "FAIL"]
    starts = {(event.job_name, event.event_time) for event in events if event.event_type == "START"}
    again = [event for event in failed if (event.job_name, event.event_time + RETRIED_AFTER) in starts]
    assert len(again) > len(failed) / 2


def test_sequences_have_no_holes() -> None:
    envelopes = [decode(value) for _, value in History().records(2000)]
    seen: dict[str, int] = {}
    for envelope in envelopes:
        if isinstance(envelope, Envelope):
            assert envelope.sequence == seen.get(envelope.emitter_id, -1) + 1
            seen[envelope.emitter_id] = envelope.sequence
    assert len(seen) > 1


def test_shares_of_resends_and_poison() -> None:
    values = [value for _, value in History(resends=0.5, poison=0.1).records(4000)]
    bad = [value for value in values if not is_event(value)]
    assert 0.07 < len(bad) / len(values) < 0.13
    good = [value for value in values if is_event(value)]
    assert 0.4 < len(set(good)) / len(good) < 0.5


def payload(value: bytes) -> bytes:
    opened = decode(value)
    return opened if isinstance(opened, bytes) else opened.payload


def is_event(value: bytes) -> bool:
    try:
        return isinstance(parse(payload(value)), Event)
    except (UnreadableRecord, InvalidEvent):
        return False
