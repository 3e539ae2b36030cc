"""What a benchmark gives: a value, and what it is to reach."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Figure:
    """One result. `share` is that of another's value in the same run, where the goal is a ratio."""

    benchmark: str
    value: float
    unit: str
    goal: str = ""
    """In words; empty where it is only reported."""
    limit: float = 0.0
    share: float | None = None
    is_upper_limit: bool = False
    is_more: bool = False
    """Whether it was given up at this value."""

    @property
    def measured(self) -> str:
        """The value with its unit, for people."""
        value = f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.2g}"
        return f"{'more than ' if self.is_more else ''}{value} {self.unit}"

    @property
    def is_reached(self) -> bool | None:
        """Whether the goal is reached; null where there is none."""
        if not self.goal:
            return None
        measured = self.value if self.share is None else self.share
        return measured <= self.limit if self.is_upper_limit else measured >= self.limit


def rate(benchmark: str, records: int, seconds: float) -> Figure:
    """So many records in so many seconds."""
    return Figure(benchmark, records / seconds, "records/s")


def of(figure: Figure, other: Figure) -> Figure:
    """A figure that is reported as a share of another's."""
    return replace(figure, share=figure.value / other.value)


def at_least(limit: float, figure: Figure, other: Figure) -> Figure:
    """A figure that is to be at least so much of another's."""
    return replace(of(figure, other), goal=f"at least {limit} of {other.benchmark}", limit=limit)


def at_most(limit: float, figure: Figure, other: Figure) -> Figure:
    """A figure that is to be at most so much of another's."""
    return replace(of(figure, other), goal=f"at most {limit} of {other.benchmark}", limit=limit, is_upper_limit=True)


def below(limit: float, benchmark: str, value: float, unit: str) -> Figure:
    """A value that is to stay below a limit by itself."""
    return Figure(benchmark, value, unit, f"at most {limit:g} {unit}", limit, is_upper_limit=True)
