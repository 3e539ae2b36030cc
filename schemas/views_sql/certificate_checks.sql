-- Every certificate with a verdict: genuine, altered, unknown algorithm, gap (the previous certificate has not arrived
-- yet), fork or reordered. A gap becomes genuine when the missing certificate arrives.
WITH sound AS (
    SELECT DISTINCT chain_hash, previous_hash, issued_at
    FROM certificate_hashes
    WHERE hash_verdict = 'intact'
),
forks AS (
    SELECT previous_hash
    FROM sound
    WHERE previous_hash <> repeat('0', 64)
    GROUP BY previous_hash
    HAVING count(*) > 1
)
SELECT
    CASE
        WHEN hashes.hash_verdict <> 'intact' THEN hashes.hash_verdict
        WHEN hashes.previous_hash = repeat('0', 64) THEN 'genuine'
        WHEN previous.chain_hash IS NULL THEN 'gap'
        WHEN forks.previous_hash IS NOT NULL THEN 'fork'
        WHEN hashes.issued_at < previous.issued_at THEN 'reordered'
        ELSE 'genuine'
    END AS verdict,
    hashes.*
FROM certificate_hashes AS hashes
LEFT JOIN sound AS previous ON previous.chain_hash = hashes.previous_hash
LEFT JOIN forks ON forks.previous_hash = hashes.previous_hash
