-- The last failure of every test, and whether it still stands: it does if it is among the latest results. A test is
-- identified by dataset (or job, if it has no dataset), suite, expectation, column and expected value. If one event
-- states several failures of the same test, a result that failed comes before one that could not run.
WITH failures AS (
    SELECT
        results.*,
        row_number() OVER (
            PARTITION BY
                results.namespace,
                results.name,
                CASE WHEN results.name IS NULL THEN results.job_namespace END,
                CASE WHEN results.name IS NULL THEN results.job_name END,
                results.suite,
                results.expectation,
                results.column,
                results.expected
            ORDER BY results.event_time DESC, results.event_id DESC, results.error IS NULL DESC, results.result_id DESC
        ) AS failure
    FROM ranked_results AS results
    WHERE NOT results.success
)
SELECT
    'quality' AS kind,
    failures.place = 1 AS stands,
    CASE WHEN failures.error IS NULL THEN 'failed test' ELSE 'test that could not run' END AS verdict,
    coalesce(
        failures.namespace || '/' || failures.name, failures.job_namespace || '/' || failures.job_name
    ) AS subject,
    failures.run_id,
    failures.expectation || coalesce(' of ' || failures.column, '') || coalesce(': ' || failures.expected, '') AS detail,
    failures.event_time AS stated_at,
    failures.event_id,
    failures.namespace,
    failures.name,
    failures.suite,
    failures.expectation,
    failures.column,
    failures.expected,
    failures.job_namespace,
    failures.job_name
FROM failures
WHERE failures.failure = 1
