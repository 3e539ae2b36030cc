-- How old each dataset may be, as the jobs that write it declare (`freshnessMinutes` in their facet lineproof_sla). Of
-- several limits the shortest counts. A limit that is not above zero, or above 1,900 years, is none.
WITH limits AS (
    SELECT DISTINCT
        io.namespace,
        io.name,
        of_jobs.job.namespace AS job_namespace,
        of_jobs.job.name AS job_name,
        jobs.freshness_minutes
    FROM (SELECT * FROM job_io_datasets WHERE direction = 'OUTPUT') AS io
    JOIN (SELECT io_id, explode(jobs) AS job FROM job_io) AS of_jobs ON of_jobs.io_id = io.io_id
    JOIN jobs ON jobs.namespace = of_jobs.job.namespace AND jobs.name = of_jobs.job.name
    WHERE jobs.freshness_minutes > 0 AND jobs.freshness_minutes < 1e9
),
ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY namespace, name ORDER BY freshness_minutes, job_namespace, job_name
        ) AS place
    FROM limits
)
SELECT
    namespace,
    name,
    CAST(ceil(freshness_minutes * 60000) AS BIGINT) AS limit_ms,
    job_namespace,
    job_name
FROM ranked
WHERE place = 1
