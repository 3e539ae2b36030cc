-- Every certificate with the verdict on its own hash: intact, altered, or unknown algorithm. Its links to other
-- certificates are in certificate_checks.
SELECT
    CASE
        WHEN coalesce(certificates.algorithm, '') <> 'lineproof-sha256-1' THEN 'unknown algorithm'
        WHEN coalesce(certificates.chain_hash = certificates.computed_hash, FALSE) THEN 'intact'
        ELSE 'altered'
    END AS hash_verdict,
    certificates.*
FROM certificates
