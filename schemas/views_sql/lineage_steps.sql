-- What lineage_upstream and lineage_downstream follow: a step leads from all of its INPUT datasets to all of its OUTPUT
-- datasets. Steps are the combinations in `job_io`, and the pairs of datasets in column lineage.
WITH pairs AS (
    SELECT
        min(columns.edge_id) AS step,
        coalesce(source.node_namespace, columns.source_namespace) AS source_namespace,
        coalesce(source.node_name, columns.source_name) AS source_name,
        coalesce(target.node_namespace, columns.target_namespace) AS target_namespace,
        coalesce(target.node_name, columns.target_name) AS target_name
    FROM column_lineage AS columns
    LEFT JOIN dataset_nodes AS source
        ON source.namespace = columns.source_namespace AND source.name = columns.source_name
    LEFT JOIN dataset_nodes AS target
        ON target.namespace = columns.target_namespace AND target.name = columns.target_name
    GROUP BY 2, 3, 4, 5
)
SELECT io_id AS step, direction, namespace, name FROM job_io_datasets
UNION ALL
SELECT step, 'INPUT', source_namespace, source_name FROM pairs
UNION ALL
SELECT step, 'OUTPUT', target_namespace, target_name FROM pairs
