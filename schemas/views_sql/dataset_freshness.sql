-- Whether each dataset is as new as it should be: fresh, late or unknown, with the reason. A limit is declared by a job
-- that writes it; where none is, it is learned. Only the tables count: limits in settings, what it was made of, and
-- whether the job has read all events, are known to `lineproof freshness` and the server. `unknown`: there is no limit
-- or no load, events are missing since the last load, or that is more than five minutes in the future. age_ms is not
-- negative.
WITH last_loads AS (
    SELECT namespace, name, max(loaded_at) AS loaded_at
    FROM dataset_loads
    GROUP BY namespace, name
),
names AS (
    SELECT
        coalesce(node.node_namespace, datasets.namespace) AS namespace,
        coalesce(node.node_name, datasets.name) AS name
    FROM datasets
    LEFT JOIN dataset_nodes AS node ON node.namespace = datasets.namespace AND node.name = datasets.name
    UNION
    SELECT namespace, name FROM last_loads
    UNION
    SELECT namespace, name FROM job_io_datasets
),
missing AS (
    SELECT max(missing_until) AS missing_until FROM missing_evidence WHERE name IS NULL
),
known AS (
    SELECT
        names.namespace,
        names.name,
        last_loads.loaded_at,
        unix_millis(current_timestamp) - unix_millis(last_loads.loaded_at) AS age_ms,
        coalesce(declared.limit_ms, learned.limit_ms) AS limit_ms,
        CASE
            WHEN declared.limit_ms IS NOT NULL THEN 'declared'
            WHEN learned.limit_ms IS NOT NULL THEN 'learned'
            ELSE 'none'
        END AS limit_source,
        declared.job_namespace,
        declared.job_name,
        CASE WHEN declared.limit_ms IS NULL THEN learned.n END AS n,
        CASE WHEN declared.limit_ms IS NULL THEN learned.k END AS k,
        CASE WHEN declared.limit_ms IS NULL THEN learned.false_alarms END AS false_alarms,
        CASE WHEN declared.limit_ms IS NULL THEN learned.is_weekly END AS is_weekly,
        coalesce(of_emitters.missing_until > last_loads.loaded_at, FALSE) AS is_lost_by_emitter,
        coalesce(missing.missing_until > last_loads.loaded_at, FALSE) AS is_lost_by_topic
    FROM names
    LEFT JOIN last_loads ON last_loads.namespace = names.namespace AND last_loads.name = names.name
    LEFT JOIN declared_limits AS declared ON declared.namespace = names.namespace AND declared.name = names.name
    LEFT JOIN learned_limits AS learned ON learned.namespace = names.namespace AND learned.name = names.name
    LEFT JOIN missing_evidence AS of_emitters
        ON of_emitters.namespace = names.namespace AND of_emitters.name = names.name
    CROSS JOIN missing
),
judged AS (
    SELECT
        *,
        CASE
            WHEN loaded_at IS NULL THEN 'no successful run has written it'
            WHEN age_ms < -300000 THEN 'its last load is in the future: a clock is wrong'
            WHEN is_lost_by_topic THEN 'records were lost since its last load'
            WHEN is_lost_by_emitter THEN 'events of a job that writes it are missing since its last load'
            WHEN limit_ms IS NULL THEN 'no limit is declared, and there are too few loads to learn one'
        END AS unknown_because
    FROM known
)
SELECT
    namespace,
    name,
    CASE WHEN unknown_because IS NOT NULL THEN 'unknown' WHEN age_ms > limit_ms THEN 'late' ELSE 'fresh' END AS verdict,
    CASE
        WHEN unknown_because IS NOT NULL THEN unknown_because
        WHEN age_ms > limit_ms THEN 'its last load is older than the limit'
        ELSE 'loaded within the limit'
    END AS reason,
    loaded_at,
    CASE WHEN age_ms < 0 THEN 0 ELSE age_ms END AS age_ms,
    limit_ms,
    limit_source,
    job_namespace,
    job_name,
    n,
    k,
    false_alarms,
    is_weekly
FROM judged
