-- Dead letters that were sent again: `source` is the original record (topic/partition/offset); the other columns are
-- the new record and its result. A header of the archived record links them.
WITH headers AS (
    SELECT archive.topic, archive.partition, archive.offset, explode(archive.headers) AS header FROM archive
),
sent AS (
    SELECT headers.topic, headers.partition, headers.offset, CAST(headers.header.value AS STRING) AS source
    FROM headers
    WHERE headers.header.key = 'lineproof.redriven-from'
)
SELECT
    sent.source,
    records.topic,
    records.partition,
    records.offset,
    records.timestamp,
    records.reason,
    records.event_id
FROM sent
JOIN records
    ON records.topic = sent.topic AND records.partition = sent.partition AND records.offset = sent.offset
