-- Offsets that the archive does not have, with the cause. "lost": records that the topic lost before they were archived,
-- and that were given up with --accept-loss. "before the first read": offsets before the first archived record of a
-- partition, which had expired when ingest first read the topic, or were deleted by retention. "not delivered": offsets
-- that Kafka does not deliver, such as the markers of transactions, aborted records, and records that were compacted
-- away. They are no loss: ingest stops where a record is missing.
WITH covered AS (
    SELECT archive.topic, archive.partition, archive.offset AS first_covered, archive.offset AS last_covered
    FROM archive
    UNION ALL
    SELECT topic, partition, first_offset, last_offset
    FROM accepted_losses
    WHERE last_offset >= first_offset
),
steps AS (
    SELECT
        topic,
        partition,
        first_covered AS present,
        coalesce(
            max(last_covered) OVER (
                PARTITION BY topic, partition ORDER BY first_covered ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            -1
        ) AS previous
    FROM covered
)
SELECT
    topic,
    partition,
    previous + 1 AS first_missing,
    present - 1 AS last_missing,
    present - previous - 1 AS missing,
    CASE WHEN previous = -1 THEN 'before the first read' ELSE 'not delivered' END AS cause
FROM steps
WHERE present > previous + 1
UNION ALL
SELECT topic, partition, first_offset, last_offset, last_offset - first_offset + 1, 'lost'
FROM accepted_losses
WHERE last_offset >= first_offset
