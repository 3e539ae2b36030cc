-- The datasets that each job reads (INPUT) and writes (OUTPUT), with the last run that did.
SELECT
    of_jobs.job.namespace AS job_namespace,
    of_jobs.job.name AS job_name,
    io.direction,
    io.namespace AS dataset_namespace,
    io.name AS dataset_name,
    min(times.first_seen_at) AS first_seen_at,
    max(times.last_seen_at) AS last_seen_at,
    max(times.last_run) AS last_run
FROM job_io_datasets AS io
JOIN (SELECT io_id, explode(jobs) AS job FROM job_io) AS of_jobs ON of_jobs.io_id = io.io_id
JOIN job_io_times AS times ON times.io_id = io.io_id
GROUP BY 1, 2, 3, 4, 5
