-- Offsets of the topic that the archive does not have: records that expired before they were archived and whose loss
-- was accepted. A topic that was first read late begins with a gap. The markers of a transactional producer are also
-- gaps.
WITH steps AS (
    SELECT
        archive.topic,
        archive.partition,
        archive.offset AS present,
        lag(archive.offset, 1, -1) OVER (PARTITION BY archive.topic, archive.partition ORDER BY archive.offset) AS previous
    FROM archive
)
SELECT
    topic,
    partition,
    previous + 1 AS first_missing,
    present - 1 AS last_missing,
    present - previous - 1 AS missing
FROM steps
WHERE present > previous + 1
