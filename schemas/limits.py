"""Limits on what one event, run, job or dataset can hold, so that no event costs more than its size.

What is over a limit is left out by a rule that does not depend on order: the smallest names are kept.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The greatest numbers. Two sets of tables are only the same if they are made with the same limits."""

    datasets: int = 10_000
    """Inputs of an event or a run; and as many outputs."""
    jobs: int = 100
    """Jobs that the events of one run name."""
    facets: int = 1_000
    """Facets of a job or a dataset, besides those that columns are made from."""
    columns: int = 10_000
    """Source columns in a columnLineage facet, each counted once per target column; of more, the first in the facet."""
    transformations: int = 100
    """Transformations between one source column and one target column."""
    symlinks: int = 100
    """Other names of a dataset."""


DEFAULT_LIMITS = Limits()
