-- Dead letters that were sent again: `source` is the original record (topic/partition/offset); the other columns are
-- the new record and its result. A header of the record links them, where its principal may say so.
SELECT
    records.redrives AS source,
    records.topic,
    records.partition,
    records.offset,
    records.timestamp,
    records.reason,
    records.event_id
FROM records
WHERE records.redrives IS NOT NULL
