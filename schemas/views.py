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
    "job_io_datasets",
    "job_io_times",
    "job_edges",
    "column_edges",
    "dataset_edges",
    "lineage_steps",
    "dataset_profiles",
    "reconciliation",
    "triangulation",
    "dataset_loads",
    "declared_limits",
    "learned_limits",
    "missing_evidence",
    "dataset_freshness",
)
"""The names of the views. Each comes after the views that it reads."""

FUNCTIONS = {"lineage_upstream": ("OUTPUT", "INPUT"), "lineage_downstream": ("INPUT", "OUTPUT")}
"""The names of the lineage functions; for each, the side where a step begins, and the side to which it leads."""

# A step leads from all datasets on one side of a combination to all on its other side. So a combination with n inputs
# and m outputs costs n + m rows, and not n times m.
_DUCKDB_FUNCTION = """
CREATE MACRO {name}(of_namespace, of_name) AS TABLE
WITH RECURSIVE near AS MATERIALIZED (
    SELECT step, namespace, name FROM lineage_steps WHERE direction = '{near}'
),
far AS MATERIALIZED (
    SELECT step, namespace, name FROM lineage_steps WHERE direction = '{far}'
),
found(namespace, name, depth) USING KEY (namespace, name) AS (
    SELECT coalesce(node.node_namespace, asked.namespace), coalesce(node.node_name, asked.name), 0
    FROM (SELECT of_namespace AS namespace, of_name AS name) AS asked
    LEFT JOIN dataset_nodes AS node ON node.namespace = asked.namespace AND node.name = asked.name
    UNION
    SELECT far.namespace, far.name, min(reached.depth) + 1
    FROM (
        SELECT near.step, min(found.depth) AS depth
        FROM found
        JOIN near ON near.namespace = found.namespace AND near.name = found.name
        GROUP BY near.step
    ) AS reached
    JOIN far ON far.step = reached.step
    ANTI JOIN recurring.found AS known ON known.namespace = far.namespace AND known.name = far.name
    GROUP BY ALL
)
SELECT depth, namespace, name FROM found WHERE depth > 0
"""
# A recursive query in Spark sees only its last step and may not group. So each of its rows lists the datasets that were
# reached before. They are texts, because Spark looks for texts in a hash table, and for structs one by one.
_SPARK_FUNCTION = """
CREATE OR REPLACE {temporary} FUNCTION {name}(of_namespace STRING, of_name STRING)
RETURNS TABLE (depth INT, namespace STRING, name STRING)
RETURN
WITH RECURSIVE found(reached, known, depth) AS (
    SELECT array(start), array(start), 0
    FROM (
        SELECT to_json(named_struct(
            'namespace', coalesce(node.node_namespace, asked.namespace), 'name', coalesce(node.node_name, asked.name)
        )) AS start
        FROM (SELECT of_namespace AS namespace, of_name AS name) AS asked
        LEFT JOIN dataset_nodes AS node ON node.namespace = asked.namespace AND node.name = asked.name
    )
    UNION ALL
    SELECT next, array_union(known, next), depth + 1
    FROM (
        SELECT
            found.known,
            found.depth,
            array_except(
                flatten(
                    transform(filter(steps.all, step -> arrays_overlap(found.reached, step.near)), step -> step.far)
                ),
                found.known
            ) AS next
        FROM found
        CROSS JOIN (
            SELECT collect_list(sides) AS all
            FROM (
                SELECT named_struct(
                    'near', collect_set(CASE WHEN direction = '{near}' THEN dataset END),
                    'far', collect_set(CASE WHEN direction = '{far}' THEN dataset END)
                ) AS sides
                FROM (
                    SELECT step, direction, to_json(named_struct('namespace', namespace, 'name', name)) AS dataset
                    FROM lineage_steps
                )
                GROUP BY step
            )
        ) AS steps
    )
    WHERE size(next) > 0
)
SELECT depth, dataset.namespace, dataset.name
FROM (
    SELECT depth, from_json(text, 'namespace STRING, name STRING') AS dataset
    FROM (SELECT depth, explode(reached) AS text FROM found WHERE depth > 0)
)
"""
_DUCKDB_MACROS = (
    "CREATE MACRO explode(list) AS unnest(list)",
    # Not epoch_ms: that rounds, and Spark's unix_millis does not.
    "CREATE MACRO unix_millis(moment) AS (epoch_us(moment) - (epoch_us(moment) % 1000 + 1000) % 1000) // 1000",
    # A macro cannot name the fields of a struct by its arguments: this one is for `last_run` alone.
    "CREATE MACRO named_struct(_first, time, _second, id) AS {'event_time': time, 'run_id': id}",
)


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


def for_duckdb(query: str, existing: Collection[str] = ()) -> list[str]:
    """The statements that create the views and functions which a query needs, except those that exist."""
    wanted = named_in(query, existing)
    return [
        *(_DUCKDB_MACROS if wanted and not existing else ()),
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
