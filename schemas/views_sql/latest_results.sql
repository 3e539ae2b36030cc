-- The latest result of every test (see ranked_results). A test that was skipped keeps its earlier result.
SELECT
    ranked.result_id,
    ranked.namespace,
    ranked.name,
    ranked.suite,
    ranked.expectation,
    ranked.column,
    ranked.success,
    ranked.severity,
    ranked.expected,
    ranked.observed,
    ranked.unexpected_count,
    ranked.unexpected_share,
    ranked.samples,
    ranked.error,
    ranked.since,
    ranked.run_id,
    ranked.job_namespace,
    ranked.job_name,
    ranked.event_time
FROM ranked_results AS ranked
WHERE ranked.place = 1
