"""What several answers have in common."""

from datetime import datetime, timezone
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, PlainSerializer

from lineproof.serving.open_tables import TableSet

Trust = Literal["proven", "broken", "unknown", "running"]

SAFE_INTEGER = 2**53
"""JavaScript rounds integers beyond this."""


def _exact(count: int | None) -> int | str | None:
    return str(count) if count is not None and abs(count) > SAFE_INTEGER else count


ExactCount = Annotated[int, PlainSerializer(_exact, return_type=int | str)]
"""A count of a ledger: text beyond 2^53, so that no reader rounds it."""


class Answer(BaseModel):
    """The base of everything that is answered. Nothing is left out: what is not known is null."""

    model_config = ConfigDict(frozen=True)


class Name(Answer):
    """A job or a dataset."""

    namespace: str
    name: str


class Column(Answer):
    """A column of a dataset."""

    namespace: str
    name: str
    field: str


class Owner(Answer):
    """Who is responsible for a job or a dataset."""

    name: str | None
    type: str | None = None


class Tag(Answer):
    """A tag of a job, a dataset, or (with `field`) a column."""

    key: str
    value: str | None = None
    field: str | None = None


Item = TypeVar("Item")


class Page(Answer, Generic[Item]):
    """A part of a list."""

    items: list[Item]
    next_cursor: str | None = None
    """Asks for the next part; None if this is the last one."""
    sql: str
    """Gives the same rows with `lineproof sql`."""


def asked_at(tables: TableSet) -> datetime:
    """The moment that an answer is about: the time that was asked for, or now."""
    return tables.known.at or datetime.now(timezone.utc)


def names(found: list[dict[str, Any]] | None) -> list[Name]:
    """Names from a column of structs, each once, in their order."""
    pairs = dict.fromkeys((one["namespace"], one["name"]) for one in found or ())
    return [Name(namespace=namespace, name=name) for namespace, name in pairs]


def owners(found: list[dict[str, Any]] | None) -> list[Owner]:
    """Owners from a column of structs."""
    return [Owner(name=one["name"], type=one["type"]) for one in found or ()]


def tags(found: list[dict[str, Any]] | None) -> list[Tag]:
    """Tags from a column of structs."""
    return [Tag(key=one["key"] or "", value=one["value"], field=one["field"]) for one in found or ()]
