-- Compares, for each edge, the rows that a run read with the rows that the last successful run before it wrote. A
-- difference is a fault only if the reader reads exactly the output of one run; a reader of a growing table reads more.
WITH steps AS (
    SELECT
        dataset.namespace AS namespace, dataset.name AS name, run_id, job_namespace, job_name, ended_at AS moment,
        0 AS is_read, dataset.row_count AS row_count
    FROM (SELECT run_id, job_namespace, job_name, ended_at, explode(outputs) AS dataset FROM runs WHERE successful) AS o
    UNION ALL
    SELECT
        dataset.namespace, dataset.name, run_id, job_namespace, job_name, moment, 1, dataset.row_count
    FROM (
        SELECT run_id, job_namespace, job_name, coalesce(started_at, first_event_at) AS moment, explode(inputs) AS dataset
        FROM runs
    ) AS i
),
placed AS (
    SELECT
        coalesce(node.node_namespace, steps.namespace) AS namespace,
        coalesce(node.node_name, steps.name) AS name,
        steps.run_id,
        steps.job_namespace,
        steps.job_name,
        steps.moment,
        steps.is_read,
        steps.row_count
    FROM steps
    LEFT JOIN dataset_nodes AS node ON node.namespace = steps.namespace AND node.name = steps.name
),
counted AS (
    SELECT
        *,
        sum(1 - is_read) OVER (
            PARTITION BY namespace, name
            ORDER BY moment, is_read, run_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS writes
    FROM placed
)
SELECT
    reads.namespace AS dataset_namespace,
    reads.name AS dataset_name,
    CASE
        WHEN reads.row_count IS NULL OR written.row_count IS NULL THEN 'not stated'
        WHEN reads.row_count = written.row_count THEN 'equal'
        WHEN reads.row_count < written.row_count THEN 'fewer read'
        ELSE 'more read'
    END AS verdict,
    written.row_count AS rows_written,
    reads.row_count AS rows_read,
    reads.row_count - written.row_count AS difference,
    written.run_id AS writer_run_id,
    written.job_namespace AS writer_job_namespace,
    written.job_name AS writer_job_name,
    written.moment AS written_at,
    reads.run_id AS reader_run_id,
    reads.job_namespace AS reader_job_namespace,
    reads.job_name AS reader_job_name,
    reads.moment AS read_at
FROM counted AS reads
JOIN counted AS written
    ON written.namespace = reads.namespace
    AND written.name = reads.name
    AND written.writes = reads.writes
    AND written.is_read = 0
WHERE reads.is_read = 1
