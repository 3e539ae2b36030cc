"""Options of the session and its JVM."""

from pathlib import Path

import psutil
import pytest

from lineproof.streaming.session import local_file_system, off_heap, total_memory, with_garbage_collector

GB = 1 << 30


def test_a_garbage_collector_is_set_unless_the_user_has_chosen_one() -> None:
    assert with_garbage_collector("-Dx=y") == "-XX:+UseParallelGC -XX:NewRatio=1 -Dx=y"
    assert with_garbage_collector("-XX:+UseG1GC -Dx=y") == "-XX:+UseG1GC -Dx=y"


@pytest.mark.parametrize(
    ("file", "text", "limit"),
    [
        ("memory.max", "1073741824\n", GB),
        ("memory.max", "max\n", None),
        ("memory/memory.limit_in_bytes", "1073741824\n", GB),
        ("memory/memory.limit_in_bytes", "9223372036854771712\n", None),
        ("something.else", "1", None),
    ],
)
def test_a_container_has_the_memory_of_its_limit(tmp_path: Path, file: str, text: str, limit: int | None) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / file).write_text(text)
    assert total_memory(tmp_path) == (limit or psutil.virtual_memory().total)


def test_off_heap_memory_is_used_where_there_is_some() -> None:
    assert [off_heap(size * GB).get("spark.memory.offHeap.size") for size in (2, 4, 5, 8, 64)] == [
        None,
        None,
        str(GB // 2),
        str(2 * GB),
        str(4 * GB),
    ]
    assert "spark.memory.offHeap.enabled" not in off_heap(4 * GB)


def test_the_local_file_system_comes_before_the_users_class_path() -> None:
    jars = [Path("jars/delta-storage-4.4.0.jar"), Path("jars/hadoop-bare-naked-local-fs-0.1.0.jar")]
    ours = "jars/hadoop-bare-naked-local-fs-0.1.0.jar"
    assert local_file_system(jars, "")["spark.driver.extraClassPath"] == ours
    assert local_file_system(jars, "mine.jar")["spark.driver.extraClassPath"] == f"{ours}:mine.jar"
