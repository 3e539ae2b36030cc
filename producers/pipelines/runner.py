"""Runs pipelines one after another, and returns the result of each."""

import random
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from lineproof.producers.chain import Chain
from lineproof.producers.emitter import Emitter
from lineproof.producers.pipelines import analytics, impact_in, q2q_ai, reporting
from lineproof.producers.pipelines.faults import Fault
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.transports.composite import CompositeTransport
from lineproof.schemas.errors import LineproofError, suggest
from lineproof.schemas.sanitise import sanitise


class UnknownPipeline(LineproofError):
    """There is no pipeline with this name."""

    exit_code = 2


@dataclass(frozen=True)
class Pipeline:
    """A pipeline, and the faults that can be injected."""

    work: Callable[[Platform], None]
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class PipelineResult:
    """The result of one run."""

    name: str
    run_id: str
    state: str
    records: int
    seconds: float
    error: str | None


_SYNC = (Fault.API_UNAVAILABLE, Fault.BROKEN_PAGE, Fault.BAD_RECORDS, Fault.LOCKED_DATABASE)
_ASKING = (Fault.NO_ANSWER, Fault.LOCKED_DATABASE)

PIPELINES: dict[str, Pipeline] = {
    "benevity-sync": Pipeline(impact_in.benevity_sync, _SYNC),
    "goodera-sync": Pipeline(impact_in.goodera_sync, _SYNC),
    "workday-sync": Pipeline(impact_in.workday_sync, _SYNC),
    "feedback-ingestion": Pipeline(q2q_ai.feedback_ingestion, (Fault.BAD_LINES, Fault.LOCKED_DATABASE)),
    "q2q-transformation": Pipeline(q2q_ai.q2q_transformation, _ASKING),
    "q2q-evidence-extraction": Pipeline(q2q_ai.q2q_evidence_extraction, _ASKING),
    "sroi-calculation": Pipeline(analytics.sroi_calculation, (Fault.LOCKED_DATABASE,)),
    "vis-calculation": Pipeline(analytics.vis_calculation, (Fault.LOCKED_DATABASE,)),
    "aggregation": Pipeline(analytics.aggregation, (Fault.LOCKED_DATABASE,)),
    "report-generation": Pipeline(reporting.report_generation, (Fault.LOCKED_DATABASE,)),
    "pdf-export": Pipeline(reporting.pdf_export, (Fault.DAMAGED_REPORT,)),
    "scheduled-reports": Pipeline(reporting.scheduled_reports, (Fault.LOCKED_DATABASE,)),
}
"""In dependency order: each pipeline reads what earlier ones wrote."""


def run_pipelines(
    names: Sequence[str],
    emitter: Emitter,
    work_directory: Path,
    *,
    report: Callable[[PipelineResult], None],
    repeat: int = 1,
    fail_rate: float = 0.0,
    seed: int = 0,
) -> list[PipelineResult]:
    """Run the named pipelines in dependency order. A failure does not stop the others.

    Each run meets a fault with the probability `fail_rate`. Inputs that do not exist in the work directory are
    produced first, without lineage.
    """
    refuse_unknown(names)
    chosen = [name for name in PIPELINES if name in names]
    # With faults, prepare the chosen pipelines too: if one fails, later ones find its earlier output.
    _prepare(work_directory, before=chosen, without=() if fail_rate else chosen)
    chance = random.Random(seed)  # noqa: S311
    results = []
    with Platform(work_directory, emitter) as platform:
        for name in chosen * repeat:
            fault = chance.choice(PIPELINES[name].faults) if chance.random() < fail_rate else None
            result = _run(platform, name, fault)
            if result.state == "COMPLETE":
                _marker(work_directory, name).touch()
            results.append(result)
            report(result)
    return results


def refuse_unknown(names: Sequence[str]) -> None:
    """Raise UnknownPipeline if a name is unknown."""
    for name in names:
        if name not in PIPELINES:
            raise UnknownPipeline(f"There is no pipeline {name!r}.", suggest(name, PIPELINES))


def _prepare(work_directory: Path, before: Sequence[str], without: Sequence[str]) -> None:
    """Run, without lineage, the earlier pipelines that have never succeeded in this work directory."""
    earlier = list(PIPELINES)[: max(map(list(PIPELINES).index, before), default=0)]
    missing = [name for name in earlier if name not in without and not _marker(work_directory, name).exists()]
    with tempfile.TemporaryDirectory() as directory:
        silent = Emitter(CompositeTransport([]), "preparation", chain=Chain(Path(directory) / "chain.jsonl"))
        with Platform(work_directory, silent) as platform:
            for name in missing:
                PIPELINES[name].work(platform)
                _marker(work_directory, name).touch()


def _marker(work_directory: Path, name: str) -> Path:
    """The file that marks a pipeline as succeeded in this work directory."""
    return work_directory / f"{name}.succeeded"


def _run(platform: Platform, name: str, fault: Fault | None) -> PipelineResult:
    began, error = time.monotonic(), None
    platform.runs.clear()
    try:
        with fault.inject(platform) if fault else nullcontext():
            PIPELINES[name].work(platform)
    except Exception as caught:
        if not platform.runs:
            raise
        error = sanitise("".join(traceback.format_exception_only(type(caught), caught)).strip())
    run = next(iter(platform.runs))
    return PipelineResult(name, run.run_id, run.state or "FAIL", run.ledger.read, time.monotonic() - began, error)
