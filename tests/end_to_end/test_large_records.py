"""Records that are larger than their topic allows are published in a shorter form, and do not stop the job."""

import json
import random
import uuid
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from lineproof.local.job_config import job_config
from lineproof.local.job_topics import TopicTooSmall
from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.schemas.headers import LEFT_OUT, REASON, SOURCE
from lineproof.schemas.record import Record
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.stages.record_size import SMALLEST_LIMIT
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.subscribers import records
from tests.end_to_end.tools import RunJob, consumed
from tests.histories import FACET
from tests.streaming.story import WORLD, dataset, event

LIMIT = 20_000
LONG = "long " * 5_000
NOISE = random.Random(5)
RUN, SMALL_RUN = (f"00000000-0000-0000-0000-0000000000{number}" for number in (51, 52))


def with_small_topics(settings: Settings, limit: int, **kafka: str) -> Settings:
    """The settings with new topics that accept records up to this size."""
    name = uuid.uuid4().hex[:8]
    kinds = ("runs", "violations", "quality", "dead_letters")
    topics = {kind: f"small-{kind.replace('_', '-')}-{name}" for kind in kinds}
    config = {"max.message.bytes": str(limit)}
    new = [NewTopic(topic, 1, 1, config=config) for topic in topics.values()]
    admin = AdminClient(dict(settings.kafka))
    for future in admin.create_topics(new).values():
        future.result(30)
    changed = {
        "topics": settings.topics.model_copy(update=topics),
        "kafka": {**settings.kafka, **kafka},
        "home": settings.home / name,
    }
    return settings.model_copy(update=changed)


def unusable() -> list[Record]:
    """Records that are no events: parts of them too large, sizes around the limit, and many small ones."""
    header = (("from", b"test"),)
    return [
        Record(b"large value", NOISE.randbytes(10 * LIMIT), header),
        Record(NOISE.randbytes(2 * LIMIT), b"large key", header),
        Record(b"large header", b"value", (("large", NOISE.randbytes(2 * LIMIT)),)),
        *(Record(b"edge", NOISE.randbytes(LIMIT - less), header) for less in range(0, 1500, 60)),
        *(Record(b"small", b"not an event " * 20, header) for _ in range(300)),
    ]


def events() -> list[Record]:
    """A run with a large row, tests with large results, and a run that needs nothing cut."""
    inputs = [dataset(WORLD, f"{'table' * 20}-{number}") for number in range(300)]
    results = [{"assertion": f"test {text}", "success": False, "expected": text} for text in (LONG, "short")]
    tested = dataset(WORLD, "tested", inputFacets={"dataQualityAssertions": {**FACET, "assertions": results}})
    return [
        Record(b"large", event(RUN, "START", 1, "large")),
        Record(b"large", event(RUN, "FAIL", 2, "large", inputs=inputs)),
        Record(b"small", event(SMALL_RUN, "COMPLETE", 2, "small", inputs=[tested])),
    ]


def letters(settings: Settings) -> list[tuple[dict[str, bytes], Any]]:
    """The dead letters on the topic, with their headers."""
    topic = settings.topics.dead_letters
    count = sum(end - begin for begin, end in KafkaCluster(settings.kafka).offsets(topic).values())
    return [(dict(message.headers()), message) for message in consumed(settings, topic, count)]


def test_large_records_are_shortened(settings: Settings, run_job: RunJob) -> None:
    sent = unusable()
    KafkaCluster(settings.kafka).send(settings.topics.events, [*sent, *events()])
    small = with_small_topics(settings, LIMIT)
    run_job(small)

    arrived = letters(small)
    assert len(arrived) == len(sent)
    assert all(headers[REASON] and headers[SOURCE] for headers, _ in arrived)
    by_key: dict[bytes | None, list[tuple[dict[str, bytes], Any]]] = {}
    for headers, message in arrived:
        by_key.setdefault(message.key(), []).append((headers, message))
    [(headers, message)] = by_key[b"large value"]
    assert (headers[LEFT_OUT], headers["from"], message.value()) == (b"value", b"test", None)
    without_key = {headers[LEFT_OUT]: (headers, message.value()) for headers, message in by_key[None]}
    assert without_key.keys() == {b"value,key", b"value,key,headers"}
    assert all(value is None for _, value in without_key.values())
    assert without_key[b"value,key"][0]["from"] == b"test"
    whole = [message for headers, message in by_key[b"edge"] if LEFT_OUT not in headers]
    assert 5 < len(whole) < len(by_key[b"edge"])
    assert {message.value() for message in whole} <= {record.value for record in sent}
    assert all(LEFT_OUT not in headers and message.value() for headers, message in by_key[b"small"])
    # The table has what was left out, and the header says which row it is.
    topic, partition, offset = by_key[b"large value"][0][0][SOURCE].decode().split("/")
    query = 'SELECT value FROM dead_letters WHERE topic = ? AND partition = ? AND "offset" = ?'
    [(value,)] = Tables(small.tables_path).query(query, topic, int(partition), int(offset)).rows
    assert value == sent[0].value

    runs = {message.record["run_id"]: message.record for message in records(small, small.topics.runs)}
    assert (runs[RUN]["truncated"], runs[RUN]["inputs"], runs[RUN]["state"]) == (True, [], "FAILED")
    assert (runs[SMALL_RUN]["truncated"], len(runs[SMALL_RUN]["inputs"])) == (False, 1)
    for topic in (small.topics.quality, small.topics.violations):
        found = [message.record for message in records(small, topic)]
        assert sorted(record["truncated"] for record in found) == [False, True], found
    [cut] = [m.record for m in records(small, small.topics.quality) if m.record["truncated"]]
    assert LONG.startswith(cut["expected"])
    assert len(cut["expected"]) == LIMIT // 256
    assert run_job(small) == []

    # The same rows give the same records, and data that cannot be compressed fits as well.
    again = with_small_topics(settings, LIMIT, **{"compression.type": "lz4"})
    run_job(again)
    ids = [
        sorted(
            m.record["record_id"]
            for kind in ("runs", "violations", "quality")
            for m in records(s, getattr(s.topics, kind))
        )
        for s in (small, again)
    ]
    assert ids[0] == ids[1]
    shown = [sorted(repr((m.key(), m.value(), sorted(h.items()))) for h, m in letters(s)) for s in (small, again)]
    assert shown[0] == shown[1]


def test_the_limit_is_that_of_topic_and_producer(settings: Settings) -> None:
    def limits(limit: int) -> set[int]:
        publish = job_config(with_small_topics(settings, limit)).curate.publish
        assert publish
        assert publish.dead_letters
        return {target.max_bytes for target in (*publish.targets.values(), publish.dead_letters)}

    assert limits(LIMIT) == {LIMIT}
    assert limits(10 * MAX_RECORD_BYTES) == {MAX_RECORD_BYTES}
    with pytest.raises(TopicTooSmall, match=r"max\.message\.bytes"):
        limits(SMALLEST_LIMIT - 1)


def test_a_topic_with_the_smallest_limit_gets_every_record(settings: Settings, run_job: RunJob) -> None:
    names = [f"{'ü' * 2000}-{number}" for number in range(3)]
    facets = {"errorMessage": {**FACET, "message": "ü" * 9_000, "programmingLanguage": "Python"}}
    parent = {"parent": {**FACET, "run": {"runId": RUN}, "job": {"namespace": names[0], "name": names[1]}}}
    document = json.loads(event(SMALL_RUN, "FAIL", 1, names[2]))
    document["run"]["facets"] = {**facets, **parent}
    KafkaCluster(settings.kafka).send(
        settings.topics.events,
        [Record(b"k", json.dumps(document).encode()), Record(NOISE.randbytes(9_000), NOISE.randbytes(9_000))],
    )
    small = with_small_topics(settings, SMALLEST_LIMIT)
    run_job(small)
    [run] = [message.record for message in records(small, small.topics.runs)]
    assert (run["run_id"], run["truncated"]) == (SMALL_RUN, True)
    [(headers, message)] = letters(small)
    assert (headers[LEFT_OUT], message.key(), message.value()) == (b"value,key", None, None)
