"""The views over the tables: results that depend on other rows or on the time of day, and so are never stored.

Each view is one file of SQL that both DuckDB and Spark SQL can run. The two functions that follow lineage need
different SQL in each of them.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files

VIEWS = (
    "archive_gaps",
    "redriven",
    "certificate_hashes",
    "certificate_checks",
    "certificate_violations",
    "emitter_gaps",
    "ledger_checks",
    "ledger_violations",
    "ranked_results",
    "latest_results",
    "quality_violations",
    "violations",
    "event_copies",
    "defects",
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
"""The names of the views. Each comes after the views that it reads."""

FUNCTIONS = {"lineage_upstream": ("target", "source"), "lineage_downstream": ("source", "target")}
"""The names of the lineage functions; for each, the end of an edge where a step begins, and the end where it leads."""

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
# A recursive query in Spark sees only its last step and may not group. So each step is one row that lists the datasets
# that were reached before.
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
                        edge -> array_contains(found.reached, edge.near) AND NOT array_contains(found.known, edge.far)
                    ),
                    edge -> edge.far
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
SELECT depth, dataset.namespace, dataset.name
FROM (SELECT depth, explode(reached) AS dataset FROM found WHERE depth > 0)
"""
_DUCKDB_MACROS = ("CREATE MACRO explode(list) AS unnest(list)", "CREATE MACRO unix_millis(moment) AS epoch_ms(moment)")


@cache
def view_sql(name: str) -> str:
    """The query of a view."""
    return files("lineproof.schemas").joinpath(f"views_sql/{name}.sql").read_text()


def view_over(name: str, tables: Collection[str]) -> str:
    """The query of a view over other data, for `spark.sql(query, **data_frames)`.

    `tables` are the tables or views to replace: the query has a placeholder `{TABLE}` for each of them.
    """
    needed = named_in(name, known=tables)
    queries = {
        **{table: f"TABLE {{{table}}}" for table in tables},
        **{view: view_sql(view) for view in VIEWS if view in needed},
    }
    named = ",\n".join(f"{table} AS (\n{query}\n)" for table, query in queries.items())
    return f"WITH {named}\nSELECT * FROM {name}"


def for_duckdb(query: str) -> list[str]:
    """The statements that create the views and functions which a query needs."""
    wanted = named_in(query)
    return [
        *(_DUCKDB_MACROS if wanted else ()),
        *(f"CREATE VIEW {name} AS {view_sql(name)}" for name in VIEWS if name in wanted),
        *(_function(_DUCKDB_FUNCTION, name) for name in FUNCTIONS if name in wanted),
    ]


def for_spark(names: Sequence[str], *, temporary: bool) -> list[str]:
    """The statements that create these views and functions, in a session or in its catalog."""
    keyword = "TEMPORARY" if temporary else ""
    return [
        *(f"CREATE OR REPLACE {keyword} VIEW {name} AS {view_sql(name)}" for name in VIEWS if name in names),
        *(_function(_SPARK_FUNCTION, name, temporary=keyword) for name in FUNCTIONS if name in names),
    ]


def named_in(query: str, known: Collection[str] = ()) -> set[str]:
    """The views and functions that a query needs, directly or through others, except those that are `known`."""
    wanted: set[str] = set()
    texts = [query]
    while texts:
        words = {*re.findall(r"\w+", re.sub(r"--.*", "", texts.pop()).lower())}
        new = (words & {*VIEWS, *FUNCTIONS}) - wanted - {*known}
        wanted |= new
        texts += [_DUCKDB_FUNCTION if name in FUNCTIONS else view_sql(name) for name in new]
    return wanted


def _function(template: str, name: str, **keywords: str) -> str:
    near, far = FUNCTIONS[name]
    return template.format(name=name, near=near, far=far, **keywords)
