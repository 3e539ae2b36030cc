"""SQL that is run with parameters and shown with literals, so that a reader can run it again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lineproof.serving.delta_reader import literal


@dataclass(frozen=True)
class Statement:
    """One query. The text has no question mark but those of its parameters."""

    text: str
    parameters: tuple[object, ...] = ()

    def shown(self) -> str:
        """The query with its parameters as literals."""
        first, *others = self.text.split("?")
        values = map(sql_literal, self.parameters)
        return first + "".join(value + text for value, text in zip(values, others, strict=True))


@dataclass
class Conditions:
    """Conditions that are combined with AND."""

    texts: list[str] = field(default_factory=list)
    parameters: list[object] = field(default_factory=list)

    def add(self, text: str, *parameters: object) -> None:
        """One more condition."""
        self.texts.append(text)
        self.parameters += parameters

    def equal(self, column: str, value: object | None) -> None:
        """The column has this value, if there is one."""
        if value is not None:
            self.add(f"{column} = ?", value)

    @property
    def where(self) -> str:
        """The clause; empty without a condition."""
        return f"WHERE {' AND '.join(self.texts)}" if self.texts else ""


def one_of(column: str, values: Collection[object]) -> str:
    """The column has one of as many values. Not a list as one parameter: that would not skip files."""
    return f"{column} IN ({', '.join('?' * len(values))})" if values else "false"


def sql_literal(value: object) -> str:
    """A value as DuckDB reads it."""
    if value is None:
        return "NULL"
    if isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ {literal(value.isoformat())}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(sql_literal(one) for one in value)}]"
    return literal(value)


def like(text: str) -> str:
    """A text that may stand anywhere, as the pattern of LIKE with ESCAPE '\\'."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
