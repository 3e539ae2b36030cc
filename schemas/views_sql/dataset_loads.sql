-- Every load of every dataset, by the name that the dataset has in lineage: the end of a successful run that wrote it. A
-- run with a ledger that does not balance is not successful. Runs that end at the same time are one load.
SELECT
    coalesce(node.node_namespace, written.output.namespace) AS namespace,
    coalesce(node.node_name, written.output.name) AS name,
    written.ended_at AS loaded_at,
    max(written.run_id) AS run_id
FROM (
    SELECT run_id, ended_at, explode(outputs) AS output FROM runs WHERE successful AND ended_at IS NOT NULL
) AS written
LEFT JOIN dataset_nodes AS node ON node.namespace = written.output.namespace AND node.name = written.output.name
GROUP BY 1, 2, 3
