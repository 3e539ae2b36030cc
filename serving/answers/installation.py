"""What a server knows of its installation besides the tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Installation:
    """Given by the process that serves."""

    version: str
    checkpoints: str = ""
    """Where the job writes its heartbeat. Empty: how far the tables are behind is not known."""
    pipelines: tuple[tuple[str, str], ...] | None = None
    """Namespace and name of the critical jobs, for coverage. None: no list is configured."""
