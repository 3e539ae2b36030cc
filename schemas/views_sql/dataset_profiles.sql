-- Every dataset that was ever loaded, as its last successful run left it. Failed runs do not change it. Tags come from
-- `datasets`. `test_pass_rate` is the share of its tests that passed in their latest results (`latest_results`).
-- `quality_score` is the score from the facet lineproof_qualityMetrics or, without that facet, the pass rate.
WITH loads AS (
    SELECT
        output.namespace AS namespace,
        output.name AS name,
        run_id,
        ended_at,
        last_event_at,
        output.row_count AS row_count,
        output.size AS size
    FROM (SELECT run_id, ended_at, last_event_at, explode(outputs) AS output FROM runs WHERE successful) AS written
),
ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY namespace, name ORDER BY ended_at DESC, run_id DESC) AS place,
        max(CASE WHEN coalesce(row_count, 1) > 0 THEN ended_at END) OVER (PARTITION BY namespace, name)
            AS last_modified_at
    FROM loads
),
last_loads AS (
    SELECT * FROM ranked WHERE place = 1
),
schemas AS (
    SELECT
        last_loads.namespace,
        last_loads.name,
        dataset_schemas.fields,
        row_number() OVER (
            PARTITION BY last_loads.namespace, last_loads.name
            ORDER BY
                least(dataset_schemas.last_seen.event_time, last_loads.ended_at) DESC,
                dataset_schemas.first_seen.event_time DESC,
                dataset_schemas.schema_hash
        ) AS place
    FROM last_loads
    JOIN dataset_schemas
        ON dataset_schemas.namespace = last_loads.namespace
        AND dataset_schemas.name = last_loads.name
        AND dataset_schemas.first_seen.event_time <= last_loads.ended_at
),
tests AS (
    SELECT namespace, name, CAST(avg(CASE WHEN success THEN 1.0 ELSE 0.0 END) AS DOUBLE) AS pass_rate
    FROM latest_results
    GROUP BY namespace, name
)
SELECT
    last_loads.namespace,
    last_loads.name,
    last_loads.ended_at AS last_loaded_at,
    last_loads.last_modified_at,
    last_loads.row_count,
    last_loads.size,
    schemas.fields,
    coalesce(datasets.quality_score, tests.pass_rate) AS quality_score,
    tests.pass_rate AS test_pass_rate,
    datasets.gdpr_category,
    datasets.residency,
    last_loads.last_event_at AS updated_at,
    last_loads.run_id
FROM last_loads
LEFT JOIN schemas
    ON schemas.namespace = last_loads.namespace AND schemas.name = last_loads.name AND schemas.place = 1
LEFT JOIN datasets ON datasets.namespace = last_loads.namespace AND datasets.name = last_loads.name
LEFT JOIN tests ON tests.namespace = last_loads.namespace AND tests.name = last_loads.name
