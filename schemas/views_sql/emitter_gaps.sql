-- Events that were lost between an emitter and the archive: gaps in the sequence numbers of an emitter. Events that
-- were lost after the last one that arrived do not show here.
WITH seen AS (
    SELECT DISTINCT emitter_id, sequence
    FROM records
    WHERE emitter_id IS NOT NULL
),
steps AS (
    SELECT emitter_id, sequence, lag(sequence, 1, -1) OVER (PARTITION BY emitter_id ORDER BY sequence) AS previous
    FROM seen
)
SELECT
    emitter_id,
    previous + 1 AS first_missing,
    sequence - 1 AS last_missing,
    sequence - previous - 1 AS missing
FROM steps
WHERE sequence > previous + 1
