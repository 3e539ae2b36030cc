-- For every dataset with several names, the name that it has in lineage: the first in the alphabet. The other names
-- come from symlinks facets of any dataset, and are followed over up to four steps.
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
    SELECT DISTINCT start.namespace, start.name, next.other_namespace, next.other_name
    FROM links AS start
    JOIN links AS next ON next.namespace = start.other_namespace AND next.name = start.other_name
),
four_steps AS (
    SELECT DISTINCT start.namespace, start.name, next.other_namespace, next.other_name
    FROM two_steps AS start
    JOIN two_steps AS next ON next.namespace = start.other_namespace AND next.name = start.other_name
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
