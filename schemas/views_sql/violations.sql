-- Every check that fails now, in the same columns for all kinds: ledgers, certificates, tests of datasets, missing
-- events, records that were lost before they were archived, and records in quarantine.
SELECT kind, verdict, subject, run_id, detail
FROM ledger_violations
WHERE stands
UNION ALL
SELECT kind, verdict, subject, run_id, detail
FROM certificate_violations
WHERE stands
UNION ALL
SELECT kind, verdict, subject, run_id, detail
FROM quality_violations
WHERE stands
UNION ALL
SELECT
    'quarantine',
    'cannot be processed',
    coalesce(topic || '/' || CAST(partition AS STRING) || '/' || CAST(quarantine.offset AS STRING), event_id),
    CAST(NULL AS STRING),
    error
FROM quarantine
UNION ALL
SELECT
    'emitter',
    'missing events',
    emitter_id,
    CAST(NULL AS STRING),
    CAST(missing AS STRING) || ' from sequence ' || CAST(first_missing AS STRING)
FROM emitter_gaps
UNION ALL
SELECT
    'archive',
    'missing records',
    topic || '-' || CAST(partition AS STRING),
    CAST(NULL AS STRING),
    CAST(missing AS STRING) || ' from offset ' || CAST(first_missing AS STRING)
FROM archive_gaps
WHERE cause = 'lost'
