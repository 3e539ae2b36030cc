-- The source columns of each column, and the transformations between them. If target_field is null, the edge is for the
-- whole target: the source column decides which rows it has. last_seen_at is the hour (UTC) of the latest event with it.
SELECT
    coalesce(source.node_namespace, columns.source_namespace) AS source_namespace,
    coalesce(source.node_name, columns.source_name) AS source_name,
    columns.source_field,
    coalesce(target.node_namespace, columns.target_namespace) AS target_namespace,
    coalesce(target.node_name, columns.target_name) AS target_name,
    columns.target_field,
    columns.job_namespace,
    columns.job_name,
    columns.transformations,
    columns.first_seen_at,
    columns.last_seen_at
FROM column_lineage AS columns
LEFT JOIN dataset_nodes AS source
    ON source.namespace = columns.source_namespace AND source.name = columns.source_name
LEFT JOIN dataset_nodes AS target
    ON target.namespace = columns.target_namespace AND target.name = columns.target_name
