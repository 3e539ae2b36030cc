"""The spool: what is in it survives crashes, torn writes, spoilt bytes and full disks (R12)."""

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
from lineproof.producers.spooling.frames import SpooledRecord, encode_frame
from lineproof.producers.spooling.spool import Spool, SpoolUnusable

PLENTY = 2**30
RECORDS = [SpooledRecord(b"key %d" % number, bytes(range(60)) * (number + 1)) for number in range(3)]


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


def die(dead: Spool) -> None:
    """What the system does when a process ends: it closes its descriptors."""
    dead.reset_after_fork()


def heir(root: Path) -> Spool:
    new = Spool(root, PLENTY)
    new.adopt()
    return new


def rest(of: Spool, *, settle: bool = True) -> Iterator[SpooledRecord]:
    """What is left to read."""
    while found := of.read():
        entry, record = found
        if settle:
            entry.directory.acknowledge(entry)
        if record:
            yield record


def orphan(root: Path, data: bytes) -> None:
    """A dead process's life with one segment."""
    directory = root / str(uuid.uuid4())
    directory.mkdir(parents=True)
    (directory / "lock").touch()
    (directory / "00000001.segment").write_bytes(data)


def files(root: Path) -> list[str]:
    return sorted(file.name for file in root.rglob("*") if file.is_file())


@pytest.mark.usefixtures("small_segments")
def test_records_come_back_in_their_order_and_then_leave_nothing_behind(root: Path) -> None:
    records = [SpooledRecord(b"%d" % number, b"x" * number) for number in range(200)]
    full = filled(root, records)
    assert len(files(root)) > 20
    assert full.pending == 200
    assert full.pending_bytes == sum(len(encode_frame(record)) for record in records)
    assert list(rest(full)) == records
    full.commit()
    assert files(root)[1:] == ["lock", "position"], "the segments that are settled are gone"
    assert (full.pending, full.pending_bytes) == (0, 0)
    assert not full.release()
    assert list(root.iterdir()) == []


def test_what_is_appended_while_somebody_reads_is_read(root: Path) -> None:
    one = filled(root, RECORDS[:1])
    assert list(rest(one)) == RECORDS[:1]
    assert not one.has_unread
    one.append(RECORDS[1])
    assert one.has_unread
    assert list(rest(one)) == RECORDS[1:2]


def test_a_torn_record_is_cut_off_wherever_it_is_torn(root: Path) -> None:
    whole = b"".join(encode_frame(record) for record in RECORDS)
    last = len(encode_frame(RECORDS[2]))
    for cut in range(1, last + 1):
        orphan(root, whole[:-cut])
        new = heir(root)
        assert list(rest(new)) == RECORDS[:2], cut
        assert new.lost == 0, "its publish never returned"
        new.commit()
        assert list(root.iterdir()) == []


def test_a_spoilt_record_is_passed_over_whichever_byte_is_spoilt(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second, third = map(encode_frame, RECORDS)
    for place in range(len(second)):
        orphan(root, first + second[:place] + bytes([second[place] ^ 0xFF]) + second[place + 1 :] + third)
        new = heir(root)
        assert list(rest(new)) == [RECORDS[0], RECORDS[2]], place
        assert new.lost == 1
        new.commit()
        assert list(root.iterdir()) == []
    assert "is corrupt; its event is lost" in caplog.text


def test_a_tail_that_the_disk_never_got_is_a_loss(root: Path) -> None:
    orphan(root, encode_frame(RECORDS[0]) + b"\0" * 500)
    new = heir(root)
    assert list(rest(new)) == RECORDS[:1]
    assert new.lost == 1


def test_only_what_is_not_settled_is_reread(root: Path) -> None:
    former = filled(root, RECORDS)
    reader = rest(former)
    assert next(reader) == RECORDS[0]
    former.commit()
    die(former)
    new = heir(root)
    assert list(rest(new)) == RECORDS[1:]
    new.commit()
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"nonsense that is long enough to be a position"])
def test_without_its_position_a_life_is_read_from_its_beginning(root: Path, content: bytes) -> None:
    former = filled(root, RECORDS)
    list(rest(former))
    former.commit()
    die(former)
    (position,) = root.rglob("position")
    position.write_bytes(content)
    assert list(rest(heir(root))) == RECORDS


@pytest.mark.usefixtures("small_segments")
def test_a_position_in_a_segment_that_is_gone_counts_as_far_as_it_goes(root: Path) -> None:
    records = [SpooledRecord(b"%d" % number, b"x" * 400) for number in range(12)]
    former = filled(root, records)
    die(former)
    for name in ("00000001.segment", "00000003.segment"):
        next(root.rglob(name)).unlink()
    assert list(rest(heir(root))) == [*records[3:6], *records[9:]]


def test_a_full_spool_takes_no_more_until_there_is_room(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    tight = Spool(root, 1000)
    large = SpooledRecord(b"key", b"x" * 500)
    assert [tight.append(large) for _ in range(4)] == [True, False, False, False]
    assert (tight.taken, tight.lost) == (1, 3)
    assert len(caplog.records) == 1
    assert "has reached its limit of 1000 bytes" in caplog.text
    assert list(rest(tight)) == [large]
    assert tight.append(large), "what is settled takes no room"


def test_what_others_have_in_the_spool_counts_too(root: Path) -> None:
    filled(root, [SpooledRecord(b"", b"x" * 900)])
    tight = Spool(root, 1000)
    tight.adopt()
    assert not tight.append(SpooledRecord(b"", b"x" * 200))


def test_loud_is_not_deafening(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(log_throttle, "time", SimpleNamespace(monotonic=lambda: now))
    throttle = log_throttle.LogThrottle(logging.getLogger("tests"))
    for number in range(50):
        throttle.error(f"trouble {number}.")
    now += 11
    throttle.error("trouble 50.")
    assert [record.getMessage() for record in caplog.records] == [
        "trouble 0.",
        "trouble 50. (repeated 50 times)",
    ]


def test_a_file_that_can_grow_no_more_is_followed_by_another(root: Path) -> None:
    """R12: a write that succeeds in part leaves nothing behind."""
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
    new = heir(root)
    assert [len(record.value) for record in rest(new)] == [900] * 7
    assert new.lost == 0


@pytest.mark.usefixtures("small_segments")
def test_a_full_disk_loses_events_and_harms_nobody(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    unlucky = filled(root, [SpooledRecord(b"", b"x" * 2000)])
    (segment,) = root.rglob("*.segment")
    segment.with_name("00000002.segment").symlink_to("/dev/full")
    assert not unlucky.append(RECORDS[0])
    assert not unlucky.append(RECORDS[0])
    assert (unlucky.taken, unlucky.lost) == (1, 2)
    assert "No space left on device" in caplog.text


def test_a_spool_that_is_deleted_begins_again(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    robbed = filled(root, RECORDS)
    shutil.rmtree(root)
    assert robbed.append(RECORDS[0])
    assert list(rest(robbed)) == RECORDS[:1]
    assert robbed.lost == 3
    assert "Files were removed from" in caplog.text
    assert (robbed.pending, robbed.pending_bytes) == (0, 0)


def test_a_deleted_spool_is_noticed_by_who_reads_too(root: Path) -> None:
    robbed = filled(root, RECORDS)
    shutil.rmtree(root)
    assert list(rest(robbed)) == []
    assert robbed.lost == 3
    assert robbed.pending_bytes == 0
    assert robbed.append(RECORDS[0])


def test_a_record_that_is_gone_cannot_be_reread(root: Path) -> None:
    robbed = filled(root, RECORDS)
    entries = [entry for entry, _ in iter(robbed.read, None)]
    assert robbed.reread(entries[1]) == RECORDS[1]
    shutil.rmtree(root)
    assert robbed.reread(entries[1]) is None
    assert entries[1].done
    assert robbed.lost == 1


def test_the_lives_of_the_living_are_left_alone_and_orphans_come_oldest_first(root: Path) -> None:
    first = filled(root, RECORDS[:1])
    begun = time.time_ns() // 10**6
    while time.time_ns() // 10**6 == begun:  # names tell lives apart by milliseconds
        continue
    second = filled(root, RECORDS[1:2])
    assert list(rest(heir(root))) == []
    die(second)
    die(first)
    new = heir(root)
    new.append(RECORDS[2])
    assert list(rest(heir(root))) == [], "they have an heir already"
    assert list(rest(new)) == RECORDS


def test_what_is_released_unsettled_is_for_others(root: Path) -> None:
    former = filled(root, RECORDS)
    assert next(rest(former)) == RECORDS[0]
    assert former.release()
    assert list(rest(heir(root))) == RECORDS[1:]


def test_no_two_processes_adopt_the_same_life(root: Path) -> None:
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
    heirs = [subprocess.Popen(command, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for each in heirs:
        assert each.stdout.readline() == "ready\n"
    for each in heirs:
        each.stdin.write("go\n")
        each.stdin.flush()
    adopted = [int(line) for each in heirs for line in each.communicate(timeout=30)[0].split()]
    assert sorted(adopted) == list(range(40))
    assert list(root.iterdir()) == []


def test_a_life_that_is_removed_while_it_is_adopted_is_nobody_s(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orphan(root, encode_frame(RECORDS[0]))
    flock = fcntl.flock

    def too_late(lock: int, operation: int) -> None:
        monkeypatch.undo()
        for file in root.rglob("*.*"):
            file.unlink()
        next(root.rglob("lock")).unlink()
        flock(lock, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    new = heir(root)
    assert not new.has_unread
    new.adopt()
    assert list(root.iterdir()) == []


def test_half_made_lives_are_removed_and_strangers_are_not(root: Path) -> None:
    (root / str(uuid.uuid4())).mkdir(parents=True)
    (root / "photos").mkdir()
    new = heir(root)
    assert list(rest(new)) == []
    assert [file.name for file in root.iterdir()] == ["photos"]


def test_a_signal_handler_may_append_while_its_thread_appends(root: Path, small_segments: None) -> None:
    """R12: a publish in a signal handler neither deadlocks nor spoils the record it interrupts."""
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


def test_an_append_that_interrupts_another_leaves_its_file_alone(
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


def test_what_waits_is_put_on_the_disk_itself(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(segments, "_sync", lambda file: synced.append(Path(f"/proc/self/fd/{file}").readlink().name))
    waiting = filled(root, RECORDS[:1])
    waiting.sync_overdue()
    assert synced == [], "it has only just come"
    waiting.sync_overdue()
    assert synced[0] == "00000001.segment"
    synced.clear()
    list(rest(waiting))
    waiting.sync_overdue()
    assert synced == [], "it is settled"


def test_a_directory_that_cannot_be_used_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpoolUnusable, match="cannot be created or written to"):
        Spool(tmp_path / "file", PLENTY)
