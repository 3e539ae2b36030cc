-- Events that an emitter counted and the topic never gave: what was lost between a producer and the archive, or that nothing
-- was. What an emitter sent last and lost cannot be seen from here.
WITH seen AS (
    SELECT DISTINCT emitter_id, sequence
    FROM records
    WHERE emitter_id IS NOT NULL
),
steps AS (
    SELECT emitter_id, sequence, lag(sequence, 1, -1) OVER (PARTITION BY emitter_id ORDER BY sequence) AS before
    FROM seen
)
SELECT
    emitter_id,
    before + 1 AS first_missing,
    sequence - 1 AS last_missing,
    sequence - before - 1 AS missing
FROM steps
WHERE sequence > before + 1
