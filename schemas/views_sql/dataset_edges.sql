-- The source datasets of each dataset, by job, with the last run that read and wrote them.
SELECT
    coalesce(source.node_namespace, edges.source_namespace) AS source_namespace,
    coalesce(source.node_name, edges.source_name) AS source_name,
    coalesce(target.node_namespace, edges.target_namespace) AS target_namespace,
    coalesce(target.node_name, edges.target_name) AS target_name,
    edges.job_namespace,
    edges.job_name,
    min(edges.first_seen_at) AS first_seen_at,
    max(edges.last_seen.event_time) AS last_seen_at,
    max(CASE WHEN edges.last_seen.run_id IS NOT NULL THEN edges.last_seen END) AS last_run
FROM edges
LEFT JOIN dataset_nodes AS source
    ON source.namespace = edges.source_namespace AND source.name = edges.source_name
LEFT JOIN dataset_nodes AS target
    ON target.namespace = edges.target_namespace AND target.name = edges.target_name
WHERE edges.kind IN ('DATASET', 'COLUMN')
GROUP BY 1, 2, 3, 4, 5, 6
