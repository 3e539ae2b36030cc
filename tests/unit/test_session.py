"""The options of the JVM."""

from lineproof.streaming.session import with_collector


def test_a_collector_is_chosen_unless_the_user_has() -> None:
    assert with_collector("-Dx=y") == "-XX:+UseParallelGC -XX:NewRatio=1 -Dx=y"
    assert with_collector("-XX:+UseG1GC -Dx=y") == "-XX:+UseG1GC -Dx=y"
