-- Every result of a test that was not skipped, ranked by time: place 1 is the latest. A suite runs as a whole, so its
-- results for a dataset are ranked together, and a test that was removed from the suite has no place 1. A test without
-- a suite is identified by dataset (or job, if it has no dataset), expectation and column.
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
