"""The reference pipelines with the configured emitter: `lineproof pipelines run`."""

from collections.abc import Callable, Sequence

from lineproof.connection import emitter_of
from lineproof.producers.pipelines.runner import PIPELINES, PipelineResult, refuse_unknown, run_pipelines
from lineproof.settings import Settings

PRODUCT = "impact-platform"
"""The product that the pipelines' jobs belong to, unless the settings name another."""


def run(
    names: Sequence[str],
    settings: Settings,
    fail_rate: float = 0.0,
    repeat: int = 1,
    seed: int = 1,
    report: Callable[[PipelineResult], None] = lambda _: None,
) -> list[PipelineResult]:
    """Run pipelines by name, or `all`. Their data is kept below the home directory."""
    chosen = list(PIPELINES) if "all" in names else names
    refuse_unknown(chosen)  # before the emitter waits for its endpoint
    settings = settings.with_product(PRODUCT)
    emitter = emitter_of(settings)
    try:
        return run_pipelines(
            chosen,
            emitter,
            settings.home / "pipelines",
            report=report,
            repeat=repeat,
            fail_rate=fail_rate,
            seed=seed,
        )
    finally:
        emitter.close()
