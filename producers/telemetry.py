"""Measures the steps of a run: rows, duration and quality metrics of each morphism."""

import resource
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from types import TracebackType
from typing import TypeVar

from lineproof.producers.facets import CdmeTelemetryRunFacet, MorphismTelemetry

Row = TypeVar("Row")


class Morphism:
    """The measurements of one step, summed over all times it is entered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.input_rows = 0
        self.output_rows = 0
        self.error_rows = 0
        self.quality: dict[str, float] = {}
        self._seconds = 0.0
        self._entered = 0.0

    def over(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Iterate over the input rows of this step, and count them."""
        for row in rows:
            self.input_rows += 1
            yield row

    def __enter__(self) -> "Morphism":
        self._entered = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._seconds += time.perf_counter() - self._entered

    def measured(self) -> MorphismTelemetry:
        """The measurements as part of the facet."""
        return MorphismTelemetry(
            name=self.name,
            inputRows=self.input_rows,
            outputRows=self.output_rows,
            errorRows=self.error_rows,
            durationMs=round(self._seconds * 1000),
            quality=self.quality,
        )


class _Unmeasured(Morphism):
    """A step that is switched off: the same interface, no measurement."""

    def over(self, rows: Iterable[Row]) -> Iterator[Row]:
        return iter(rows)

    def __enter__(self) -> Morphism:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        pass


class Telemetry:
    """The steps of one run. Steps in `off` are not measured."""

    def __init__(self, off: Collection[str] = ()) -> None:
        self._off = off
        self._began = time.perf_counter()
        self._morphisms: dict[str, Morphism] = {}

    def morphism(self, name: str) -> Morphism:
        """The step with this name. Use it as a context manager to measure its duration."""
        if name in self._off:
            return _Unmeasured(name)
        return self._morphisms.setdefault(name, Morphism(name))

    def facet(self) -> CdmeTelemetryRunFacet | None:
        """All measurements, or None. Input rows are those of the first step, output rows those of the last step."""
        steps = [morphism.measured() for morphism in self._morphisms.values()]
        if not steps:
            return None
        return CdmeTelemetryRunFacet(
            inputRows=steps[0].inputRows,
            outputRows=steps[-1].outputRows,
            errorRows=sum(step.errorRows for step in steps),
            durationMs=round((time.perf_counter() - self._began) * 1000),
            peakMemoryBytes=_peak_memory_bytes(),
            morphisms=steps,
        )


def _peak_memory_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
