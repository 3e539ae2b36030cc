"""Results of tests as lineage: a run of the job `quality.SUITE`, whose input is the dataset that was tested."""

from collections.abc import Sequence

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import data_quality_assertions_dataset, data_quality_metrics_input_dataset

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset
from lineproof.producers.run import Run
from lineproof.quality.rows import Metrics
from lineproof.quality.validation import Result

JOBS = "quality."
"""What the names of quality's jobs begin with."""


def job_name(suite: str) -> str:
    """The job whose runs are those of the suite."""
    return f"{JOBS}{suite}"


def end(run: Run, dataset: DatasetName, suite: str, results: Sequence[Result], found: Metrics | None) -> None:
    """End the run with all that was found: COMPLETE, or FAIL where something could not be looked at."""
    run.add_input(tested(dataset, suite, results, found))
    errors = [result.error for result in results if result.error]
    if errors:
        run.fail(errors[0])
    else:
        run.complete()


def tested(dataset: DatasetName, suite: str, results: Sequence[Result], found: Metrics | None) -> ol.InputDataset:
    """The dataset with its assertions, all of them, and its metrics."""
    facets: dict[str, object] = {
        "dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
            assertions=[_assertion(suite, result) for result in results]
        )
    }
    if found:
        columns = {
            name: data_quality_metrics_input_dataset.ColumnMetrics(
                nullCount=nulls, distinctCount=found.distinct_counts.get(name)
            )
            for name, nulls in found.null_counts.items()
        }
        facets["dataQualityMetrics"] = data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
            rowCount=found.row_count, columnMetrics=columns
        )
    return input_dataset(dataset, row_count=found.row_count if found else None, input_facets=facets)


def _assertion(suite: str, result: Result) -> data_quality_assertions_dataset.Assertion:
    """What the standard has no word for is in `params`, from which `quality_results` takes it."""
    params = {
        "suite": suite,
        "unexpectedCount": result.unexpected_count,
        "unexpectedShare": result.unexpected_share,
        "samples": list(result.samples) or None,
        "error": result.error,
        "durationMs": result.duration_ms,
        "since": result.since.isoformat() if result.since else None,
    }
    return data_quality_assertions_dataset.Assertion(
        assertion=result.expectation,
        success=result.success,
        column=result.column,
        expected=result.expected or None,
        actual=result.observed,
        params={name: value for name, value in params.items() if value is not None},
    )
