"""What a server knows of its installation besides the tables."""

from dataclasses import dataclass
from typing import NamedTuple

DAY_S = 86_400


class CriticalPipeline(NamedTuple):
    """A job whose lineage must be there."""

    namespace: str
    name: str
    period_s: float = DAY_S
    """How often it runs, at least."""
    freshness_s: float | None = None
    """How old its result may be."""


@dataclass(frozen=True)
class Installation:
    """Given by the process that serves."""

    version: str
    checkpoints: str = ""
    """Where the job writes its heartbeat. Empty: how far the tables are behind is not known."""
    pipelines: tuple[CriticalPipeline, ...] | None = None
    """The critical jobs, for coverage and freshness. None: no list is configured."""
    pipelines_from: str = ""
    """The file that has this list."""
    limits: tuple[tuple[str, float], ...] = ()
    """How old datasets may be, in seconds, by a pattern of NAMESPACE/NAME. The first that matches counts."""


NOT_KNOWN = Installation("")
"""Nothing but the tables is known, so nothing is fresh: newer events may be missing."""
