"""Views: what changes with other rows, or with the time of day, is asked for and never stored.

One file of SQL a view, in words that DuckDB and Spark SQL both understand; and two functions that follow lineage, which
each needs in its own words.
"""

from collections.abc import Sequence
from importlib.resources import files

VIEWS = (
    "archive_gaps",
    "redriven",
    "certificate_checks",
    "emitter_gaps",
    "ledger_checks",
    "latest_results",
    "violations",
    "event_copies",
    "run_timeline",
    "open_runs",
    "dataset_nodes",
    "job_edges",
    "dataset_edges",
    "column_edges",
    "dataset_profiles",
    "reconciliation",
    "triangulation",
)
"""Their names, each after those it is made of."""

FUNCTIONS = {"lineage_upstream": ("target", "source"), "lineage_downstream": ("source", "target")}
"""Their names, and the end of an edge from which they come and to which they go."""

_DUCKDB_FUNCTION = """
CREATE MACRO {name}(of_namespace, of_name) AS TABLE
WITH RECURSIVE steps AS MATERIALIZED (
    SELECT DISTINCT source_namespace, source_name, target_namespace, target_name FROM dataset_edges
),
found(namespace, name, depth) USING KEY (namespace, name) AS (
    SELECT coalesce(node.node_namespace, asked.namespace), coalesce(node.node_name, asked.name), 0
    FROM (SELECT of_namespace AS namespace, of_name AS name) AS asked
    LEFT JOIN dataset_nodes AS node ON node.namespace = asked.namespace AND node.name = asked.name
    UNION
    SELECT steps.{far}_namespace, steps.{far}_name, min(found.depth) + 1
    FROM found
    JOIN steps ON steps.{near}_namespace = found.namespace AND steps.{near}_name = found.name
    ANTI JOIN recurring.found AS known
        ON known.namespace = steps.{far}_namespace AND known.name = steps.{far}_name
    GROUP BY ALL
)
SELECT depth, namespace, name FROM found WHERE depth > 0
"""
# Spark's recursion sees only its last step, and may not group: a step is one row that carries along where it has been.
_SPARK_FUNCTION = """
CREATE OR REPLACE {temporary} FUNCTION {name}(of_namespace STRING, of_name STRING)
RETURNS TABLE (depth INT, namespace STRING, name STRING)
RETURN
WITH RECURSIVE found(reached, known, depth) AS (
    SELECT array(start), array(start), 0
    FROM (
        SELECT named_struct(
            'namespace', coalesce(node.node_namespace, asked.namespace), 'name', coalesce(node.node_name, asked.name)
        ) AS start
        FROM (SELECT of_namespace AS namespace, of_name AS name) AS asked
        LEFT JOIN dataset_nodes AS node ON node.namespace = asked.namespace AND node.name = asked.name
    )
    UNION ALL
    SELECT next, array_union(known, next), depth + 1
    FROM (
        SELECT
            found.known,
            found.depth,
            array_distinct(
                transform(
                    filter(
                        steps.all,
                        one -> array_contains(found.reached, one.near) AND NOT array_contains(found.known, one.far)
                    ),
                    one -> one.far
                )
            ) AS next
        FROM found
        CROSS JOIN (
            SELECT
                collect_set(
                    named_struct(
                        'near', named_struct('namespace', {near}_namespace, 'name', {near}_name),
                        'far', named_struct('namespace', {far}_namespace, 'name', {far}_name)
                    )
                ) AS all
            FROM dataset_edges
        ) AS steps
    )
    WHERE size(next) > 0
)
SELECT depth, one.namespace, one.name
FROM (SELECT depth, explode(reached) AS one FROM found WHERE depth > 0)
"""
_DUCKDB_WORDS = ("CREATE MACRO explode(list) AS unnest(list)", "CREATE MACRO unix_millis(moment) AS epoch_ms(moment)")


def view_sql(name: str) -> str:
    """The query that a view stands for."""
    return files("lineproof.schemas").joinpath(f"views_sql/{name}.sql").read_text()


def for_duckdb(query: str) -> list[str]:
    """The statements that make what a query names."""
    wanted = named_in(query)
    return [
        *(_DUCKDB_WORDS if wanted else ()),
        *(f"CREATE VIEW {name} AS {view_sql(name)}" for name in VIEWS if name in wanted),
        *(_function(_DUCKDB_FUNCTION, name) for name in FUNCTIONS if name in wanted),
    ]


def for_spark(names: Sequence[str], *, temporary: bool) -> list[str]:
    """The statements that make these views and functions, in a session or in its catalog."""
    word = "TEMPORARY" if temporary else ""
    return [
        *(f"CREATE OR REPLACE {word} VIEW {name} AS {view_sql(name)}" for name in VIEWS if name in names),
        *(_function(_SPARK_FUNCTION, name, temporary=word) for name in FUNCTIONS if name in names),
    ]


def named_in(query: str) -> set[str]:
    """The views and functions that a query names, and those that they are made of."""
    wanted: set[str] = set()
    texts = [query]
    while texts:
        text = texts.pop().lower()
        new = {name for name in (*VIEWS, *FUNCTIONS) if name in text} - wanted
        wanted |= new
        texts += [_DUCKDB_FUNCTION if name in FUNCTIONS else view_sql(name) for name in new]
    return wanted


def _function(template: str, name: str, **words: str) -> str:
    near, far = FUNCTIONS[name]
    return template.format(name=name, near=near, far=far, **words)
