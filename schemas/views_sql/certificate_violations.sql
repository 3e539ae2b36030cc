-- Every certificate that is not genuine.
SELECT
    'certificate' AS kind,
    TRUE AS stands,
    verdict,
    certificate_id AS subject,
    run_id,
    'chain hash ' || coalesce(chain_hash, 'missing') AS detail,
    issued_at AS stated_at,
    CAST(NULL AS STRING) AS event_id,
    certificate_key
FROM certificate_checks
WHERE verdict <> 'genuine'
