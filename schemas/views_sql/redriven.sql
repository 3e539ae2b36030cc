-- Dead letters that were sent again: `source` is the record that was dead (topic/partition/offset), the rest is the record that
-- took its place, and what it is. Told by a header, so that it is in the archive and stays there.
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
