-- Every test as it last went. A suite is run as a whole, so that its latest run of a dataset stands for all before it, and
-- what was taken out of it no longer counts. A test that belongs to no suite is known by dataset (else by job), expectation
-- and column. A test that was skipped says nothing, and leaves what was said before.
WITH ranked AS (
    SELECT
        results.*,
        rank() OVER (
            PARTITION BY
                results.namespace,
                results.name,
                results.suite,
                CASE WHEN results.name IS NULL THEN results.job_namespace END,
                CASE WHEN results.name IS NULL THEN results.job_name END,
                CASE WHEN results.suite IS NULL THEN results.expectation END,
                CASE WHEN results.suite IS NULL THEN results.column END
            ORDER BY results.event_time DESC, results.event_id DESC
        ) AS place
    FROM quality_results AS results
    WHERE results.success IS NOT NULL
)
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
FROM ranked
WHERE ranked.place = 1
