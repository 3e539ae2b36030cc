-- Until when events are missing that could be about a dataset, by cause. "lost by an emitter": the event after a gap in
-- the sequence of an emitter arrived then, and this emitter sent events of a job that writes the dataset. "lost by the
-- topic": records that the topic lost before they were archived were given up then; they could be about any dataset
-- (namespace and name are null).
WITH emitters AS (
    SELECT gaps.emitter_id, max(records.timestamp) AS missing_until
    FROM emitter_gaps AS gaps
    JOIN records ON records.emitter_id = gaps.emitter_id AND records.sequence = gaps.last_missing + 1
    GROUP BY gaps.emitter_id
),
of_jobs AS (
    SELECT runs.job.namespace AS job_namespace, runs.job.name AS job_name, max(emitters.missing_until) AS missing_until
    FROM emitters
    JOIN (SELECT DISTINCT emitter_id, run_id FROM records WHERE emitter_id IS NOT NULL) AS sent
        ON sent.emitter_id = emitters.emitter_id
    JOIN (SELECT run_id, explode(jobs) AS job FROM runs) AS runs ON runs.run_id = sent.run_id
    GROUP BY runs.job.namespace, runs.job.name
)
SELECT io.namespace, io.name, 'lost by an emitter' AS cause, max(of_jobs.missing_until) AS missing_until
FROM of_jobs
JOIN (SELECT io_id, explode(jobs) AS job FROM job_io) AS writing
    ON writing.job.namespace = of_jobs.job_namespace AND writing.job.name = of_jobs.job_name
JOIN (SELECT * FROM job_io_datasets WHERE direction = 'OUTPUT') AS io ON io.io_id = writing.io_id
GROUP BY io.namespace, io.name
UNION ALL
SELECT CAST(NULL AS STRING), CAST(NULL AS STRING), 'lost by the topic', max(accepted_at)
FROM accepted_losses
WHERE last_offset IS NULL OR last_offset >= first_offset
HAVING max(accepted_at) IS NOT NULL
