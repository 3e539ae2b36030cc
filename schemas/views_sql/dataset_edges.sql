-- The source datasets of each dataset, by job, with the last run that read and wrote them. There can be very many: filter
-- by source or target. Edges that only column lineage states have no last_run, and last_seen_at is the hour (UTC).
SELECT
    source_namespace,
    source_name,
    target_namespace,
    target_name,
    job_namespace,
    job_name,
    min(first_seen_at) AS first_seen_at,
    max(last_seen_at) AS last_seen_at,
    max(last_run) AS last_run
FROM (
    SELECT
        source.namespace AS source_namespace,
        source.name AS source_name,
        target.namespace AS target_namespace,
        target.name AS target_name,
        of_jobs.job.namespace AS job_namespace,
        of_jobs.job.name AS job_name,
        times.first_seen_at,
        times.last_seen_at,
        times.last_run
    FROM (SELECT * FROM job_io_datasets WHERE direction = 'INPUT') AS source
    JOIN (SELECT * FROM job_io_datasets WHERE direction = 'OUTPUT') AS target ON target.io_id = source.io_id
    JOIN (SELECT io_id, explode(jobs) AS job FROM job_io) AS of_jobs ON of_jobs.io_id = source.io_id
    JOIN job_io_times AS times ON times.io_id = source.io_id
    UNION ALL
    SELECT
        source_namespace, source_name, target_namespace, target_name, job_namespace, job_name,
        first_seen_at, last_seen_at, NULL
    FROM column_edges
) AS stated
GROUP BY 1, 2, 3, 4, 5, 6
