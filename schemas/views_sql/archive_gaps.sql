-- Offsets of the topic that the archive does not have: records that expired before they were archived, and that their loss
-- was accepted. A topic that was read late begins with one. The marks that a transactional producer leaves look like one of
-- their own.
WITH steps AS (
    SELECT
        archive.topic,
        archive.partition,
        archive.offset AS present,
        lag(archive.offset, 1, -1) OVER (PARTITION BY archive.topic, archive.partition ORDER BY archive.offset) AS before
    FROM archive
)
SELECT
    topic,
    partition,
    before + 1 AS first_missing,
    present - 1 AS last_missing,
    present - before - 1 AS missing
FROM steps
WHERE present > before + 1
