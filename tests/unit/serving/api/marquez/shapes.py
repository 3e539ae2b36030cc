"""Whether a JSON answer has what a reader needs: a shape is a type, a list with one shape, or members with shapes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


@dataclass(frozen=True)
class OrNull:
    """Null is allowed."""

    shape: Any


@dataclass(frozen=True)
class IfPresent:
    """The member may be missing, but not null."""

    shape: Any


@dataclass(frozen=True)
class Such:
    """A condition."""

    name: str
    holds: Callable[[Any], bool]


TIME = Such("time with Z", lambda value: isinstance(value, str) and bool(_TIME.fullmatch(value)))
COUNT = Such("count", lambda value: type(value) is int and value >= 0)


def one_of(*values: str) -> Such:
    """One of these texts."""
    return Such(f"one of {values}", lambda value: value in values)


def filled(shape: Any) -> Such:
    """A list that is not empty."""
    return Such("list that is not empty", lambda value: bool(value) and not [*faults(value, [shape])])


def faults(value: Any, shape: Any, at: str = "$") -> Iterator[str]:
    """Where a value does not have the shape."""
    if isinstance(shape, OrNull):
        if value is not None:
            yield from faults(value, shape.shape, at)
    elif isinstance(shape, Such):
        if not shape.holds(value):
            yield f"{at} is no {shape.name}: {str(value)[:80]}"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{at} is no list: {str(value)[:80]}"
        else:
            for number, element in enumerate(value):
                yield from faults(element, shape[0], f"{at}[{number}]")
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            yield f"{at} is no object: {str(value)[:80]}"
        else:
            yield from _of_members(value, shape, at)
    elif not isinstance(value, shape) or (shape is not bool and isinstance(value, bool)):
        yield f"{at} is no {shape.__name__}: {str(value)[:80]}"


def _of_members(value: dict[str, Any], shape: dict[str, Any], at: str) -> Iterator[str]:
    for name, of_member in shape.items():
        if name in value:
            of = of_member.shape if isinstance(of_member, IfPresent) else of_member
            yield from faults(value[name], of, f"{at}.{name}")
        elif not isinstance(of_member, IfPresent):
            yield f"{at} has no {name}"
