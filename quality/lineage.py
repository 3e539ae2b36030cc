"""Results as lineage: a run of the job `quality.SUITE`, whose input is the dataset that was checked."""

from collections.abc import Sequence

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import data_quality_assertions_dataset, data_quality_metrics_input_dataset

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import input_dataset
from lineproof.producers.run import Run
from lineproof.quality.dataset_reader import DatasetMetrics
from lineproof.quality.validator import ExpectationResult

JOB_PREFIX = "quality."
"""The names of the jobs that run suites start with this."""


def job_name(suite: str) -> str:
    """The job that runs the suite."""
    return f"{JOB_PREFIX}{suite}"


def finish_run(
    run: Run, dataset: DatasetName, suite: str, results: Sequence[ExpectationResult], metrics: DatasetMetrics | None
) -> None:
    """End the run with all results: COMPLETE, or FAIL if an expectation could not be checked."""
    run.add_input(checked_dataset(dataset, suite, results, metrics))
    errors = [result.error for result in results if result.error]
    if errors:
        run.fail(errors[0])
    else:
        run.complete()


def checked_dataset(
    dataset: DatasetName, suite: str, results: Sequence[ExpectationResult], metrics: DatasetMetrics | None
) -> ol.InputDataset:
    """The dataset with a facet of all assertions and, if they were counted, one of its metrics."""
    facets: dict[str, object] = {
        "dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
            assertions=[_assertion(suite, result) for result in results]
        )
    }
    if metrics:
        columns = {
            name: data_quality_metrics_input_dataset.ColumnMetrics(
                nullCount=nulls, distinctCount=metrics.distinct_counts.get(name)
            )
            for name, nulls in metrics.null_counts.items()
        }
        facets["dataQualityMetrics"] = data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
            rowCount=metrics.row_count, columnMetrics=columns
        )
    return input_dataset(dataset, row_count=metrics.row_count if metrics else None, input_facets=facets)


def _assertion(suite: str, result: ExpectationResult) -> data_quality_assertions_dataset.Assertion:
    """OpenLineage has no members for some of our columns: they go to `params`, where `quality_results` reads them."""
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
