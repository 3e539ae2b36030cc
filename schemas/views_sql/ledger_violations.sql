-- Every run that completed and stated a ledger that does not balance, and whether the violation still stands. It does
-- not if a later ledger balances, or if the run failed after all.
SELECT
    'ledger' AS kind,
    is_violation AS stands,
    verdict,
    run_id AS subject,
    run_id,
    job_namespace || '/' || job_name || ': the difference is ' || coalesce(CAST(difference AS STRING), 'not known')
        AS detail,
    stated_at,
    event_id
FROM ledger_checks
WHERE is_violation OR (completed_at IS NOT NULL AND had_faulty_ledger)
