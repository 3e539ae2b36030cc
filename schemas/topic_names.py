"""Which topics ingest reads: the setting `topics.events` as names and patterns."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lineproof.schemas.errors import LineproofError

PATTERN_MARK = "^"
"""The first character of a pattern, as in Kafka's own clients. No topic name has it."""
_NAME = re.compile(r"[\w.-]{1,249}", re.ASCII)


class NoNamedTopic(LineproofError):
    """A command that publishes needs a topic, and `topics.events` has patterns only."""

    exit_code = 2


@dataclass(frozen=True)
class TopicNames:
    """Names and patterns. A pattern is a regular expression that must match the whole name."""

    names: tuple[str, ...]
    patterns: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "TopicNames":
        """Read a comma-separated list. Raises ValueError if an entry is no name and no pattern."""
        entries = [entry.strip() for entry in text.split(",")]
        names = tuple(entry for entry in entries if not entry.startswith(PATTERN_MARK))
        patterns = tuple(entry for entry in entries if entry.startswith(PATTERN_MARK))
        for name in names:
            if not _NAME.fullmatch(name) or name in {".", ".."}:
                raise ValueError(f"{name!r} is not a topic name; a pattern begins with {PATTERN_MARK}")
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern} is not a regular expression: {error} (a pattern has no comma)") from error
        return cls(names, patterns)

    @property
    def first(self) -> str:
        """The topic that events are published to."""
        if not self.names:
            raise NoNamedTopic(
                f"topics.events is the pattern {', '.join(self.patterns)}, which names no topic to publish to.",
                "Add the name of a topic before the pattern: topics.events=lineage.events,^lineage\\.events\\..*",
            )
        return self.names[0]

    def matching(self, topics: Iterable[str]) -> list[str]:
        """Those of the topics that ingest reads, in order of their names."""
        return sorted(topic for topic in topics if topic in self.names or re.fullmatch(self._expression, topic))

    @property
    def subscription(self) -> tuple[str, str]:
        """The option of Spark's Kafka source, and its value."""
        if not self.patterns:
            return "subscribe", ",".join(self.names)
        return "subscribePattern", self._expression

    @property
    def _expression(self) -> str:
        """One regular expression for all entries, anchored: Spark looks for a match anywhere in the name.

        Kafka's internal topics begin with two underscores.
        """
        entries = (*(re.escape(name) for name in self.names), *self.patterns)
        return f"^(?!__)(?:{'|'.join(f'(?:{entry})' for entry in entries)})$"
