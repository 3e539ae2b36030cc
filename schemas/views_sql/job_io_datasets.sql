-- The datasets of each combination in `job_io`, on the side where they are (INPUT or OUTPUT), by the name that they have in
-- lineage.
SELECT
    stated.io_id,
    stated.direction,
    coalesce(node.node_namespace, stated.dataset.namespace) AS namespace,
    coalesce(node.node_name, stated.dataset.name) AS name
FROM (
    SELECT io_id, 'INPUT' AS direction, explode(inputs) AS dataset FROM job_io
    UNION ALL
    SELECT io_id, 'OUTPUT' AS direction, explode(outputs) AS dataset FROM job_io
) AS stated
LEFT JOIN dataset_nodes AS node ON node.namespace = stated.dataset.namespace AND node.name = stated.dataset.name
