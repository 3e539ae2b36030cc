-- For each run, its purpose (intent), its code (logic) and the evidence that it ran as intended (proof), side by side.
WITH morphisms AS (
    SELECT namespace, name, max(entry.facet) AS morphism
    FROM (SELECT namespace, name, explode(facets) AS entry FROM jobs) AS facets
    WHERE entry.name IN ('cdme_morphism', 'cdme.morphism')
    GROUP BY namespace, name
),
certified AS (
    SELECT
        run_id,
        count(*) AS certificates,
        sum(CASE WHEN verdict = 'genuine' THEN 1 ELSE 0 END) AS genuine_certificates
    FROM certificate_checks
    GROUP BY run_id
),
written AS (
    SELECT run_id, sum(CAST(dataset.row_count AS DECIMAL(20, 0))) AS row_count
    FROM (SELECT run_id, explode(outputs) AS dataset FROM runs) AS o
    GROUP BY run_id
),
sources AS (
    SELECT run_id, sum(CAST(dataset.row_count AS DECIMAL(20, 0))) AS row_count
    FROM (SELECT run_id, explode(inputs) AS dataset FROM runs) AS i
    GROUP BY run_id
)
SELECT
    runs.run_id,
    runs.job_namespace,
    runs.job_name,
    runs.state,
    jobs.description AS intent_documentation,
    jobs.owners AS intent_owners,
    jobs.sql AS logic_sql,
    morphisms.morphism AS logic_morphism,
    jobs.source_code_url AS logic_source_code_url,
    runs.successful AS proof_successful,
    runs.ledger_verdict AS proof_ledger,
    runs.ledger_difference AS proof_ledger_difference,
    coalesce(certified.certificates, 0) AS proof_certificates,
    CAST(coalesce(certified.genuine_certificates, 0) AS BIGINT) AS proof_genuine_certificates,
    CAST(sources.row_count AS DECIMAL(38, 0)) AS proof_rows_read,
    CAST(written.row_count AS DECIMAL(38, 0)) AS proof_rows_written,
    runs.inputs AS proof_inputs,
    runs.outputs AS proof_outputs
FROM runs
LEFT JOIN jobs ON jobs.namespace = runs.job_namespace AND jobs.name = runs.job_name
LEFT JOIN morphisms ON morphisms.namespace = runs.job_namespace AND morphisms.name = runs.job_name
LEFT JOIN certified ON certified.run_id = runs.run_id
LEFT JOIN sources ON sources.run_id = runs.run_id
LEFT JOIN written ON written.run_id = runs.run_id
