-- For every dataset that goes by several names, the one it stands under in lineage: the first of them in the alphabet. Names
-- are those of the symlinks facet, whoever declares it, also over up to four steps.
WITH declared AS (
    SELECT namespace, name, explode(symlinks) AS other
    FROM datasets
),
links AS (
    SELECT namespace, name, other.namespace AS other_namespace, other.name AS other_name FROM declared
    UNION
    SELECT other.namespace, other.name, namespace, name FROM declared
    UNION
    SELECT namespace, name, namespace, name FROM declared
    UNION
    SELECT other.namespace, other.name, other.namespace, other.name FROM declared
),
two_steps AS (
    SELECT DISTINCT one.namespace, one.name, next.other_namespace, next.other_name
    FROM links AS one
    JOIN links AS next ON next.namespace = one.other_namespace AND next.name = one.other_name
),
four_steps AS (
    SELECT DISTINCT one.namespace, one.name, next.other_namespace, next.other_name
    FROM two_steps AS one
    JOIN two_steps AS next ON next.namespace = one.other_namespace AND next.name = one.other_name
),
ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY namespace, name ORDER BY other_namespace, other_name) AS place
    FROM four_steps
)
SELECT namespace, name, other_namespace AS node_namespace, other_name AS node_name
FROM ranked
WHERE place = 1
