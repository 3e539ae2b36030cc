-- The datasets that each job reads (INPUT) and writes (OUTPUT), with the last run that did.
SELECT
    edges.job_namespace,
    edges.job_name,
    edges.kind AS direction,
    coalesce(node.node_namespace, edges.source_namespace, edges.target_namespace) AS dataset_namespace,
    coalesce(node.node_name, edges.source_name, edges.target_name) AS dataset_name,
    min(edges.first_seen_at) AS first_seen_at,
    max(edges.last_seen.event_time) AS last_seen_at,
    max(CASE WHEN edges.last_seen.run_id IS NOT NULL THEN edges.last_seen END) AS last_run
FROM edges
LEFT JOIN dataset_nodes AS node
    ON node.namespace = coalesce(edges.source_namespace, edges.target_namespace)
    AND node.name = coalesce(edges.source_name, edges.target_name)
WHERE edges.kind IN ('INPUT', 'OUTPUT')
GROUP BY 1, 2, 3, 4, 5
