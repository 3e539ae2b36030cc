"""The names under which the archive keeps the records of a topic.

Topic, partition and offset identify a record for ever. But the offsets of a topic that was deleted and recreated start
at 0 again. So that no record is mistaken for another, the records of the new topic are archived under a name that no
topic can have: `lineage.events#2`.
"""

from collections.abc import Collection


def name_in_archive(topic: str, used: Collection[str]) -> str:
    """The first name for the records of this topic that is not in use."""
    names = (f"{topic}#{number}" if number > 1 else topic for number in range(1, len(used) + 2))
    return next(name for name in names if name not in used)


def newest_name(topic: str, used: Collection[str]) -> str:
    """The name that was last given to the records of this topic."""
    numbers = [name.removeprefix(f"{topic}#") for name in used if name.startswith(f"{topic}#")]
    return f"{topic}#{max(map(int, numbers))}" if numbers else topic
