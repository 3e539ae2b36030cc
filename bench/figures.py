"""Results of benchmarks: a value, and the goal that it should reach."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Figure:
    """A result. `share` is its ratio to another result of the same run."""

    benchmark: str
    value: float
    unit: str
    goal: str = ""
    """In words; empty if the result is only reported."""
    limit: float = 0.0
    share: float | None = None
    is_upper_limit: bool = False
    is_more: bool = False
    """Whether the measurement was stopped at this value, so that the real one is higher."""

    @property
    def measured(self) -> str:
        """The value with its unit, for display."""
        value = f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.2g}"
        return f"{'more than ' if self.is_more else ''}{value} {self.unit}"

    @property
    def is_reached(self) -> bool | None:
        """Whether the goal is reached; None if there is none."""
        if not self.goal:
            return None
        measured = self.value if self.share is None else self.share
        return measured <= self.limit if self.is_upper_limit else measured >= self.limit


def rate(benchmark: str, records: int, seconds: float) -> Figure:
    """Records per second."""
    return Figure(benchmark, records / seconds, "records/s")


def relative_to(figure: Figure, other: Figure) -> Figure:
    """Report a figure as a ratio to another one."""
    return replace(figure, share=figure.value / other.value)


def at_least(limit: float, figure: Figure, other: Figure) -> Figure:
    """The goal is at least this ratio to another figure."""
    return replace(relative_to(figure, other), goal=f"at least {limit} of {other.benchmark}", limit=limit)


def at_most(limit: float, figure: Figure, other: Figure) -> Figure:
    """The goal is at most this ratio to another figure."""
    return replace(
        relative_to(figure, other), goal=f"at most {limit} of {other.benchmark}", limit=limit, is_upper_limit=True
    )


def below(limit: float, benchmark: str, value: float, unit: str) -> Figure:
    """The goal is an absolute limit."""
    return Figure(benchmark, value, unit, f"at most {limit:g} {unit}", limit, is_upper_limit=True)
