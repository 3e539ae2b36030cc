-- Every certificate with what is to be thought of it: genuine, altered, gap (the link before it is not known yet), fork,
-- reordered, or unknown algorithm. A gap becomes genuine when the missing link arrives.
WITH sound AS (
    SELECT DISTINCT chain_hash, previous_hash, issued_at
    FROM certificates
    WHERE algorithm = 'lineproof-sha256-1' AND chain_hash = computed_hash
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
        WHEN coalesce(certificates.algorithm, '') <> 'lineproof-sha256-1' THEN 'unknown algorithm'
        WHEN NOT coalesce(certificates.chain_hash = certificates.computed_hash, FALSE) THEN 'altered'
        WHEN certificates.previous_hash = repeat('0', 64) THEN 'genuine'
        WHEN before.chain_hash IS NULL THEN 'gap'
        WHEN forks.previous_hash IS NOT NULL THEN 'fork'
        WHEN certificates.issued_at < before.issued_at THEN 'reordered'
        ELSE 'genuine'
    END AS verdict,
    certificates.*
FROM certificates
LEFT JOIN sound AS before ON before.chain_hash = certificates.previous_hash
LEFT JOIN forks ON forks.previous_hash = certificates.previous_hash
