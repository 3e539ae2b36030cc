-- The ledger of every run that has one: its own declaration, the result of adding it up, and the difference. A run that
-- completed with a ledger that does not balance is a violation.
SELECT
    run_id,
    job_namespace,
    job_name,
    state,
    ledger_verdict AS verdict,
    state = 'COMPLETED' AND ledger_verdict <> 'balanced' AS is_violation,
    ledger.declared_balanced AS declared_balanced,
    ledger_difference = 0 AS recomputed_balanced,
    ledger_difference AS difference,
    ledger.input_count AS input_count,
    ledger.processed_count AS processed_count,
    ledger.filtered_count AS filtered_count,
    ledger.errored_count AS errored_count,
    ledger.event_time AS stated_at,
    ledger.event_id AS event_id,
    completed_at,
    had_faulty_ledger
FROM runs
WHERE ledger_verdict IS NOT NULL
