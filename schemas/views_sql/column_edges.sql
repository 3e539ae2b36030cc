-- The source columns of each column, and the transformations between them. If target_field is null, the edge is for the
-- whole target: the source column decides which rows it has.
SELECT
    coalesce(source.node_namespace, edges.source_namespace) AS source_namespace,
    coalesce(source.node_name, edges.source_name) AS source_name,
    edges.source_field,
    coalesce(target.node_namespace, edges.target_namespace) AS target_namespace,
    coalesce(target.node_name, edges.target_name) AS target_name,
    edges.target_field,
    edges.job_namespace,
    edges.job_name,
    edges.transformations,
    edges.first_seen_at,
    edges.last_seen
FROM edges
LEFT JOIN dataset_nodes AS source
    ON source.namespace = edges.source_namespace AND source.name = edges.source_name
LEFT JOIN dataset_nodes AS target
    ON target.namespace = edges.target_namespace AND target.name = edges.target_name
WHERE edges.kind = 'COLUMN'
