"""The generated events that benchmarks run on."""

from collections import Counter

from lineproof.bench.generate import RETRIED_AFTER, History
from lineproof.schemas.envelope import Envelope, UnreadableRecord, decode
from lineproof.schemas.openlineage import Event, InvalidEvent, parse
from lineproof.schemas.record import Record


def test_the_same_seed_gives_the_same_records() -> None:
    assert list(History(7).records(500)) == list(History(7).records(500))
    assert list(History(7).records(500)) != list(History(8).records(500))


def test_events_have_realistic_kinds_and_sizes() -> None:
    records = list(History().records(5000))
    events = [parse(payload(record)) for record in records]
    assert all(record.key == event.key for record, event in zip(records, events, strict=True))
    kinds = Counter(event.event_type for event in events)
    assert kinds.keys() == {"START", "RUNNING", "COMPLETE", "FAIL"}
    jobs = Counter(event.job_name for event in events)
    assert jobs.most_common(1)[0][1] > 20 * (len(events) / 400)
    sizes = sorted(len(record.value or b"") for record in records)
    assert 1500 < sizes[len(sizes) // 2] < 2500
    assert sizes[-1] > 10_000


def test_failed_runs_are_retried() -> None:
    events = [parse(payload(record)) for record in History().records(5000)]
    failed = [event for event in events if event.event_type == "FAIL"]
    starts = {(event.job_name, event.event_time) for event in events if event.event_type == "START"}
    retried = [event for event in failed if (event.job_name, event.event_time + RETRIED_AFTER) in starts]
    assert len(retried) > len(failed) / 2


def test_sequence_numbers_have_no_gaps() -> None:
    envelopes = [decode(record.value or b"") for record in History().records(2000)]
    seen: dict[str, int] = {}
    for envelope in envelopes:
        if isinstance(envelope, Envelope):
            assert envelope.sequence == seen.get(envelope.emitter_id, -1) + 1
            seen[envelope.emitter_id] = envelope.sequence
    assert len(seen) > 1


def test_shares_of_resends_and_poison() -> None:
    records = list(History(resends=0.5, poison=0.1).records(4000))
    bad = [record for record in records if not is_event(record)]
    assert 0.07 < len(bad) / len(records) < 0.13
    good = [record.value for record in records if is_event(record)]
    assert 0.4 < len(set(good)) / len(good) < 0.5


def payload(record: Record) -> bytes:
    decoded = decode(record.value or b"")
    return decoded if isinstance(decoded, bytes) else decoded.payload


def is_event(record: Record) -> bool:
    try:
        return isinstance(parse(payload(record)), Event)
    except (UnreadableRecord, InvalidEvent):
        return False
