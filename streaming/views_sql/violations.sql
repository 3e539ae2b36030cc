-- Everything that does not hold, in one shape: ledgers, certificates, events that never came.
SELECT
    'ledger' AS kind,
    verdict,
    run_id AS subject,
    run_id,
    concat(job_namespace, '/', job_name, ': the difference is ', CAST(difference AS STRING)) AS detail
FROM ledger_checks
WHERE is_violation
UNION ALL
SELECT 'certificate', verdict, certificate_id, run_id, concat('chain hash ', chain_hash)
FROM certificate_checks
WHERE verdict <> 'genuine'
UNION ALL
SELECT
    'emitter',
    'missing events',
    emitter_id,
    CAST(NULL AS STRING),
    concat(CAST(missing AS STRING), ' from sequence ', CAST(first_missing AS STRING))
FROM emitter_gaps
