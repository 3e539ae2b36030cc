"""The spool survives crashes, truncated writes, corrupt bytes and full disks."""

import fcntl
import logging
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from lineproof.producers.spooling import log_throttle, segments, spool
from lineproof.producers.spooling.frames import SpooledRecord, decode_headers, encode_frame, encode_headers
from lineproof.producers.spooling.spool import Spool, SpoolUnusable

PLENTY = 2**30
HEADERS = [encode_headers({"lineproof.principal": "team-a"}), b"", encode_headers({"a": "1", "b": "=é"})]
RECORDS = [SpooledRecord(b"key %d" % at, bytes(range(60)) * (at + 1), headers) for at, headers in enumerate(HEADERS)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1000)


def filled(root: Path, records: list[SpooledRecord]) -> Spool:
    new = Spool(root, PLENTY)
    for record in records:
        assert new.append(record)
    return new


def end_process(dead: Spool) -> None:
    """Close the descriptors, as the system does when a process ends."""
    dead.reset_after_fork()


def adopter(root: Path) -> Spool:
    new = Spool(root, PLENTY)
    new.adopt()
    return new


def rest(of: Spool, *, settle: bool = True) -> Iterator[SpooledRecord]:
    """The records left to read."""
    while found := of.read():
        entry, record = found
        if settle:
            entry.directory.acknowledge(entry)
        if record:
            yield record


def orphan(root: Path, data: bytes) -> None:
    """Create the directory of a dead process, with one segment."""
    directory = root / str(uuid.uuid4())
    directory.mkdir(parents=True)
    (directory / "lock").touch()
    (directory / "00000001.segment").write_bytes(data)


def files(root: Path) -> list[str]:
    return sorted(file.name for file in root.rglob("*") if file.is_file())


@pytest.mark.usefixtures("small_segments")
def test_records_are_read_in_order_and_removed_when_acknowledged(root: Path) -> None:
    records = [SpooledRecord(b"%d" % number, b"x" * number) for number in range(200)]
    full = filled(root, records)
    assert len(files(root)) > 20
    assert full.pending == 200
    assert full.pending_bytes == sum(len(encode_frame(record)) for record in records)
    assert list(rest(full)) == records
    full.commit()
    assert files(root)[1:] == ["lock", "position"], "acknowledged segments are removed"
    assert (full.pending, full.pending_bytes) == (0, 0)
    assert not full.release()
    assert list(root.iterdir()) == []


def test_records_appended_during_reading_are_read(root: Path) -> None:
    growing = filled(root, RECORDS[:1])
    assert list(rest(growing)) == RECORDS[:1]
    assert not growing.has_unread
    growing.append(RECORDS[1])
    assert growing.has_unread
    assert list(rest(growing)) == RECORDS[1:2]


def test_headers_are_what_they_were() -> None:
    assert [decode_headers(headers) for headers in HEADERS] == [
        [("lineproof.principal", b"team-a")],
        [],
        [("a", b"1"), ("b", "=é".encode())],
    ]


def test_a_truncated_record_is_skipped(root: Path) -> None:
    whole = b"".join(encode_frame(record) for record in RECORDS)
    last = len(encode_frame(RECORDS[2]))
    for cut in range(1, last + 1):
        orphan(root, whole[:-cut])
        new = adopter(root)
        assert list(rest(new)) == RECORDS[:2], cut
        assert new.lost == 0, "its publish never returned"
        new.commit()
        assert list(root.iterdir()) == []


def test_a_corrupt_record_is_skipped(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second, third = map(encode_frame, RECORDS)
    for place in range(len(second)):
        orphan(root, first + second[:place] + bytes([second[place] ^ 0xFF]) + second[place + 1 :] + third)
        new = adopter(root)
        assert list(rest(new)) == [RECORDS[0], RECORDS[2]], place
        assert new.lost == 1
        new.commit()
        assert list(root.iterdir()) == []
    assert "is corrupt; its event is lost" in caplog.text


def test_zeros_at_the_end_count_as_a_lost_record(root: Path) -> None:
    orphan(root, encode_frame(RECORDS[0]) + b"\0" * 500)
    new = adopter(root)
    assert list(rest(new)) == RECORDS[:1]
    assert new.lost == 1


def test_only_unacknowledged_records_are_read_again(root: Path) -> None:
    former = filled(root, RECORDS)
    reader = rest(former)
    assert next(reader) == RECORDS[0]
    former.commit()
    end_process(former)
    new = adopter(root)
    assert list(rest(new)) == RECORDS[1:]
    new.commit()
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"nonsense that is long enough to be a position"])
def test_without_a_position_a_directory_is_read_from_its_beginning(root: Path, content: bytes) -> None:
    former = filled(root, RECORDS)
    list(rest(former))
    former.commit()
    end_process(former)
    (position,) = root.rglob("position")
    position.write_bytes(content)
    assert list(rest(adopter(root))) == RECORDS


@pytest.mark.usefixtures("small_segments")
def test_missing_segments_are_skipped(root: Path) -> None:
    records = [SpooledRecord(b"%d" % number, b"x" * 400) for number in range(12)]
    former = filled(root, records)
    end_process(former)
    for name in ("00000001.segment", "00000003.segment"):
        next(root.rglob(name)).unlink()
    assert list(rest(adopter(root))) == [*records[3:6], *records[9:]]


def test_a_full_spool_loses_records_until_there_is_room(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    tight = Spool(root, 1000)
    large = SpooledRecord(b"key", b"x" * 500)
    assert [tight.append(large) for _ in range(4)] == [True, False, False, False]
    assert (tight.taken, tight.lost) == (1, 3)
    assert len(caplog.records) == 1
    assert "has reached its limit of 1000 bytes" in caplog.text
    assert list(rest(tight)) == [large]
    assert tight.append(large), "acknowledged records take no room"


def test_the_limit_includes_directories_of_other_processes(root: Path) -> None:
    filled(root, [SpooledRecord(b"", b"x" * 900)])
    tight = Spool(root, 1000)
    tight.adopt()
    assert not tight.append(SpooledRecord(b"", b"x" * 200))


def test_repeated_errors_are_logged_with_a_count(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(log_throttle, "time", SimpleNamespace(monotonic=lambda: now))
    throttle = log_throttle.LogThrottle(logging.getLogger("tests"))
    for number in range(50):
        throttle.error(f"error {number}.")
    now += 11
    throttle.error("error 50.")
    assert [record.getMessage() for record in caplog.records] == [
        "error 0.",
        "error 50. (repeated 50 times)",
    ]


def test_a_segment_at_the_file_size_limit_is_followed_by_another(root: Path) -> None:
    """A partial write leaves nothing behind."""
    script = """
import resource, sys
from pathlib import Path
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.spool import Spool
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
spool = Spool(Path(sys.argv[1]), 2**30)
print([spool.append(SpooledRecord(b"", b"x" * size)) for size in (900, 900, 900, 900, 900, 900, 6000, 900)], spool.lost)
print(spool.pending_bytes)
"""
    done = subprocess.run([sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=True)
    kept = 7 * len(encode_frame(SpooledRecord(b"", b"x" * 900)))
    assert done.stdout == f"[{'True, ' * 6}False, True] 1\n{kept}\n"
    assert "bytes could be written" in done.stderr
    new = adopter(root)
    assert [len(record.value) for record in rest(new)] == [900] * 7
    assert new.lost == 0


@pytest.mark.usefixtures("small_segments")
def test_a_full_disk_loses_events_and_does_not_raise(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    unlucky = filled(root, [SpooledRecord(b"", b"x" * 2000)])
    (segment,) = root.rglob("*.segment")
    segment.with_name("00000002.segment").symlink_to("/dev/full")
    assert not unlucky.append(RECORDS[0])
    assert not unlucky.append(RECORDS[0])
    assert (unlucky.taken, unlucky.lost) == (1, 2)
    assert "No space left on device" in caplog.text


def test_a_deleted_spool_is_recreated_by_append(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    deleted = filled(root, RECORDS)
    shutil.rmtree(root)
    assert deleted.append(RECORDS[0])
    assert list(rest(deleted)) == RECORDS[:1]
    assert deleted.lost == 3
    assert "Files were removed from" in caplog.text
    assert (deleted.pending, deleted.pending_bytes) == (0, 0)


def test_a_deleted_spool_is_detected_by_read(root: Path) -> None:
    deleted = filled(root, RECORDS)
    shutil.rmtree(root)
    assert list(rest(deleted)) == []
    assert deleted.lost == 3
    assert deleted.pending_bytes == 0
    assert deleted.append(RECORDS[0])


def test_a_removed_record_cannot_be_read_again(root: Path) -> None:
    deleted = filled(root, RECORDS)
    entries = [entry for entry, _ in iter(deleted.read, None)]
    assert deleted.reread(entries[1]) == RECORDS[1]
    shutil.rmtree(root)
    assert deleted.reread(entries[1]) is None
    assert entries[1].done
    assert deleted.lost == 1


def test_only_orphaned_directories_are_adopted_oldest_first(root: Path) -> None:
    first = filled(root, RECORDS[:1])
    begun = time.time_ns() // 10**6
    while time.time_ns() // 10**6 == begun:  # directory names differ by milliseconds
        continue
    second = filled(root, RECORDS[1:2])
    assert list(rest(adopter(root))) == []
    end_process(second)
    end_process(first)
    new = adopter(root)
    new.append(RECORDS[2])
    assert list(rest(adopter(root))) == [], "they are adopted already"
    assert list(rest(new)) == RECORDS


def test_released_records_are_adopted_by_others(root: Path) -> None:
    former = filled(root, RECORDS)
    assert next(rest(former)) == RECORDS[0]
    assert former.release()
    assert list(rest(adopter(root))) == RECORDS[1:]


def test_two_processes_never_adopt_the_same_directory(root: Path) -> None:
    for number in range(40):
        orphan(root, encode_frame(SpooledRecord(b"%d" % number, b"")))
    script = """
import sys
from pathlib import Path
from lineproof.producers.spooling.spool import Spool
spool = Spool(Path(sys.argv[1]), 2**30)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    spool.adopt()
    while found := spool.read():
        found[0].directory.acknowledge(found[0])
        print(found[1].key.decode())
    spool.commit()
"""
    command = [sys.executable, "-c", script, str(root)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    adopters = [subprocess.Popen(command, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for adopter in adopters:
        assert adopter.stdout.readline() == "ready\n"
    for adopter in adopters:
        adopter.stdin.write("go\n")
        adopter.stdin.flush()
    adopted = [int(line) for adopter in adopters for line in adopter.communicate(timeout=30)[0].split()]
    assert sorted(adopted) == list(range(40))
    assert list(root.iterdir()) == []


def test_a_directory_removed_during_adoption_is_not_adopted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orphan(root, encode_frame(RECORDS[0]))
    flock = fcntl.flock

    def too_late(lock: int, operation: int) -> None:
        monkeypatch.undo()
        for file in root.rglob("*.*"):
            file.unlink()
        next(root.rglob("lock")).unlink()
        flock(lock, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    new = adopter(root)
    assert not new.has_unread
    new.adopt()
    assert list(root.iterdir()) == []


def test_incomplete_directories_are_removed_and_unrelated_ones_kept(root: Path) -> None:
    (root / str(uuid.uuid4())).mkdir(parents=True)
    (root / "photos").mkdir()
    new = adopter(root)
    assert list(rest(new)) == []
    assert [file.name for file in root.iterdir()] == ["photos"]


def test_a_signal_handler_may_append_while_its_thread_appends(root: Path, small_segments: None) -> None:
    """A publish in a signal handler neither deadlocks nor corrupts the record it interrupts."""
    busy = Spool(root, PLENTY)
    interruptions = 0

    def handler(_number: int, _frame: object) -> None:
        nonlocal interruptions
        interruptions += 1
        busy.append(SpooledRecord(b"handler", b"%d" % interruptions))
        signal.setitimer(signal.ITIMER_REAL, 0.0001 + interruptions % 50 / 1_000_000)

    former = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0001)
    try:
        appended = 0
        while interruptions < 500:
            busy.append(SpooledRecord(b"thread", b"%d" % appended))
            appended += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    found = list(rest(busy))
    assert [record.value for record in found if record.key == b"thread"] == [b"%d" % n for n in range(appended)]
    assert len({record.value for record in found if record.key == b"handler"}) == interruptions
    assert busy.lost == 0


def test_an_append_in_a_signal_handler_does_not_roll_the_segment(
    root: Path, small_segments: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = filled(root, RECORDS[:1])
    append_whole = segments.append_whole

    def interrupted(descriptor: int, data: bytes) -> None:
        monkeypatch.setattr(segments, "append_whole", append_whole)
        for _ in range(3):
            busy.append(SpooledRecord(b"handler", b"x" * 1000))
        append_whole(descriptor, data)

    monkeypatch.setattr(segments, "append_whole", interrupted)
    busy.append(RECORDS[1])
    assert len(list(root.rglob("*.segment"))) == 1
    assert [record.key for record in rest(busy)] == [b"key 0", b"handler", b"handler", b"handler", b"key 1"]


def test_pending_records_are_synced_to_disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(segments, "_sync", lambda file: synced.append(Path(f"/proc/self/fd/{file}").readlink().name))
    waiting = filled(root, RECORDS[:1])
    waiting.sync_overdue()
    assert synced == [], "it is new"
    waiting.sync_overdue()
    assert synced[0] == "00000001.segment"
    synced.clear()
    list(rest(waiting))
    waiting.sync_overdue()
    assert synced == [], "it is acknowledged"


def test_an_unusable_directory_raises_immediately(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpoolUnusable, match="cannot be created or written to"):
        Spool(tmp_path / "file", PLENTY)
