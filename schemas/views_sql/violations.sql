-- Everything that does not hold, in one shape: ledgers, certificates, tests of datasets, events that never came, records that
-- are gone.
SELECT
    'ledger' AS kind,
    verdict,
    run_id AS subject,
    run_id,
    job_namespace || '/' || job_name || ': the difference is ' || coalesce(CAST(difference AS STRING), 'not known')
        AS detail
FROM ledger_checks
WHERE is_violation
UNION ALL
SELECT 'certificate', verdict, certificate_id, run_id, 'chain hash ' || coalesce(chain_hash, 'missing')
FROM certificate_checks
WHERE verdict <> 'genuine'
UNION ALL
SELECT
    'quality',
    CASE WHEN results.error IS NULL THEN 'failed test' ELSE 'test that could not run' END,
    coalesce(results.namespace || '/' || results.name, results.job_namespace || '/' || results.job_name),
    results.run_id,
    results.expectation || coalesce(' of ' || results.column, '') || coalesce(': ' || results.expected, '')
FROM latest_results AS results
WHERE NOT results.success
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
