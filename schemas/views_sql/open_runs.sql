-- Runs without an end, and whether they are overdue. The limit is max_duration_ms of the job's SLA; without it, three
-- times the job's median duration, at least a minute; without that, a day. Jobs that stream or serve are never overdue.
-- A late end closes the run.
WITH usual AS (
    SELECT job_namespace, job_name, median(duration_ms) AS usual_ms
    FROM runs
    WHERE successful
    GROUP BY job_namespace, job_name
),
timed AS (
    SELECT
        runs.run_id,
        runs.job_namespace,
        runs.job_name,
        runs.state,
        coalesce(runs.started_at, runs.first_event_at) AS open_since,
        runs.last_event_at,
        unix_millis(current_timestamp) - unix_millis(coalesce(runs.started_at, runs.first_event_at)) AS open_ms,
        CAST(usual.usual_ms AS BIGINT) AS usual_ms,
        CASE
            WHEN jobs.processing_type IN ('STREAMING', 'SERVICE') THEN NULL
            WHEN jobs.max_duration_ms IS NOT NULL THEN jobs.max_duration_ms
            WHEN usual.usual_ms IS NOT NULL THEN greatest(CAST(3 * usual.usual_ms AS BIGINT), 60000)
            ELSE 86400000
        END AS limit_ms,
        jobs.processing_type,
        jobs.owners
    FROM runs
    LEFT JOIN usual ON usual.job_namespace = runs.job_namespace AND usual.job_name = runs.job_name
    LEFT JOIN jobs ON jobs.namespace = runs.job_namespace AND jobs.name = runs.job_name
    WHERE runs.ended_at IS NULL
)
SELECT
    run_id,
    job_namespace,
    job_name,
    state,
    coalesce(open_ms > limit_ms, FALSE) AS is_overdue,
    open_since,
    last_event_at,
    open_ms,
    limit_ms,
    usual_ms,
    processing_type,
    owners
FROM timed
