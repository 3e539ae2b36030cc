"""One SELECT over our tables, and nothing else, however it is written."""

import duckdb
import pytest

from lineproof.schemas.views import VIEWS, view_sql
from lineproof.serving.sandbox.select_check import MAX_BRACKETS, MAX_CHARACTERS, NotASelect, checked

ALLOWED = {
    "SELECT 1": "SELECT 1",
    "select * from RUNS limit 3; -- x": "select * from RUNS limit 3",
    "SELECT 'a;b é' ; /* ; */": "SELECT 'a;b é' ",
    **{
        sql: sql
        for sql in (
            "FROM runs",
            "TABLE runs",
            "VALUES (1)",
            "(SELECT 1)",
            "FROM main.runs",
            "DESCRIBE runs",
            "DESCRIBE SELECT 1",
            "SUMMARIZE runs",
            "WITH a AS (SELECT 1 x), b AS (FROM a) SELECT * FROM b",
            "WITH RECURSIVE a AS (SELECT 1 x UNION ALL SELECT x + 1 FROM a WHERE x < 5) FROM a",
            "WITH RECURSIVE a(x) USING KEY (x) AS (SELECT 1 UNION SELECT x+1 FROM recurring.a WHERE x < 3) FROM a",
            "SELECT * FROM runs PIVOT (count(*) FOR state IN ('A', 'B'))",
            "SELECT * FROM runs UNPIVOT (v FOR k IN (a, b))",
            "FROM lineage_upstream('a', 'b') JOIN datasets USING (namespace, name)",
            "SELECT *, count(*) OVER () FROM runs ORDER BY 1 DESC NULLS LAST LIMIT 10%",
            "SELECT 1::DECIMAL(3,1)[], 2::STRUCT(a INT), 'a'::ENUM('a')",
            "SELECT DISTINCT ON (state) * EXCLUDE (run_id) FROM runs TABLESAMPLE 10%",
            "SELECT now(), current_date, current_timestamp",
            "SELECT event->>'$.a' FROM lineage_events QUALIFY row_number() OVER (ORDER BY 1) = 1",
            "FROM runs WHERE run_id IN (SELECT run_id FROM certificates) AND EXISTS (FROM jobs)",
            "SELECT list_transform([1], lambda x: x + 1), COLUMNS(c -> c LIKE 'a%') FROM runs, range(3)",
            "SELECT x FROM runs GROUP BY GROUPING SETS ((a), (b)) HAVING count(*) > 1",
        )
    },
}

REFUSED = (
    # not one statement, or no SELECT
    *("", "-- x", "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE runs", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE FROM runs"),
    *("PRAGMA version", "CALL pragma_version()", "SET x = 1", "RESET threads", "USE x", "CHECKPOINT", "VACUUM"),
    *("COPY (SELECT 1) TO '/tmp/x'", "COPY runs FROM '/tmp/x'", "EXPORT DATABASE '/tmp/x'", "IMPORT DATABASE '/tmp/x'"),
    *("ATTACH '/tmp/x'", "DETACH x", "INSTALL httpfs", "LOAD httpfs", "CREATE TABLE x (a INT)", "DROP VIEW runs"),
    *(
        "CREATE SECRET (TYPE s3)",
        "BEGIN",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "PIVOT runs ON state",
        "SELECT 1 INTO x",
    ),
    *("INSERT INTO runs VALUES (1)", "DELETE FROM runs", "UPDATE runs SET a = 1", "SELECT ?", "SELECT $x", "garbage"),
    # a SELECT for DuckDB that writes
    "WITH x AS (INSERT INTO runs VALUES (1) RETURNING *) SELECT * FROM x",
    "WITH x AS (DELETE FROM runs RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE runs SET a = 1 RETURNING *) FROM x",
    "WITH x AS (COPY runs TO '/tmp/x') FROM x",
    "SELECT * FROM (WITH x AS (DELETE FROM runs RETURNING *) SELECT * FROM x)",
    # files
    *("FROM '/etc/passwd'", 'FROM "/etc/passwd"', "FROM 'x.parquet'", "SUMMARIZE 'x.csv'", "DESCRIBE '/etc/passwd'"),
    *("FROM read_text('/etc/passwd')", "FROM read_parquet(['x'])", "FROM read_csv('x')", "FROM glob('/*')"),
    *("FROM read_blob('x')", "FROM read_json('x')", "FROM parquet_metadata('x')", "FROM sniff_csv('x')"),
    *("FROM parquet_scan('x')", "FROM read_duckdb('x')", "FROM system.main.read_text('/etc/passwd')"),
    "SELECT (SELECT a FROM (SELECT (SELECT content FROM read_text('/etc/passwd')) a))",
    "SELECT 1 LIMIT (SELECT size FROM read_text('/x'))",
    "SELECT * FROM runs ORDER BY (SELECT content FROM read_text('/x'))",
    "SELECT list_transform([1], lambda x: (SELECT content FROM read_text('/x')))",
    "SELECT sum(1) OVER (ORDER BY (FROM read_text('/x')))",
    "SELECT * FROM runs, LATERAL (FROM read_text(run_id))",
    "SELECT * FROM runs JOIN read_text('/x') ON true",
    "VALUES ((SELECT content FROM read_text('/x')))",
    "SELECT 1 UNION ALL SELECT content FROM read_text('/x')",
    "WITH a AS (FROM read_text('/x')) SELECT 1",
    # what the database and this machine are like
    *("SHOW TABLES", "SHOW ALL TABLES", "SHOW DATABASES", "FROM (SHOW ALL TABLES)", "DESCRIBE duckdb_views"),
    *("FROM duckdb_views()", "FROM duckdb_views", "FROM duckdb_settings()", "FROM duckdb_secrets()"),
    *("FROM information_schema.tables", "FROM sqlite_master", "FROM pg_catalog.pg_views", "FROM a.runs"),
    *("SELECT current_setting('allowed_directories')", "SELECT getenv('HOME')", "SELECT 'HOME'.getenv()"),
    *("SELECT pg_get_viewdef(1)", "SELECT main.pg_get_viewdef(1)", "SELECT system.main.current_setting('x')"),
    *("SELECT getvariable('x')", "SELECT current_query()", "SELECT version()", "SELECT write_log('x')"),
    *("SELECT list_transform(['HOME'], lambda x: getenv(x))", "SELECT count(*) FILTER (getenv('x') = '') FROM runs"),
    # a common table expression hides a name only where it is known
    "SELECT * FROM duckdb_views, (WITH duckdb_views AS (SELECT 1) SELECT * FROM duckdb_views) x",
    # SQL as text
    *("FROM query('SELECT 1')", "FROM query_table('runs')", "FROM query_table(['duckdb_views'])"),
    *("FROM json_execute_serialized_sql('x')", "SELECT json_serialize_plan('SELECT 1')"),
    # time and sequences
    *("SELECT sleep_ms(100000)", "SELECT pg_sleep(100)", "SELECT nextval('x')", "SELECT setseed(0.5)"),
    # limits
    "SELECT 1 -- " + "x" * MAX_CHARACTERS,
    "SELECT " + "(" * (MAX_BRACKETS + 1),
    "SELECT " + "[" * (MAX_BRACKETS + 1) + "]" * (MAX_BRACKETS + 1),
    "SELECT " + "NOT " * 900 + "true",
    "SELECT " + "NOT " * 4900 + "true",
    "SELECT 1" + "+1" * 9000,
    "SELECT " + "CASE WHEN " * 1900,
    "SELECT\x00 1",
)


@pytest.fixture(scope="module")
def parser() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.mark.parametrize("sql", ALLOWED, ids=lambda sql: sql[:40])
def test_queries_are_allowed(parser: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert checked(parser, sql) == ALLOWED[sql]


@pytest.mark.parametrize("view", VIEWS)
def test_the_queries_of_our_views_are_allowed(parser: duckdb.DuckDBPyConnection, view: str) -> None:
    checked(parser, view_sql(view))


@pytest.mark.parametrize("sql", REFUSED, ids=lambda sql: sql[:40])
def test_everything_else_is_refused(parser: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises(NotASelect) as refused:
        checked(parser, sql)
    assert len(refused.value.what) < 500
    assert refused.value.remedy


def test_a_wrong_name_gets_the_nearest(parser: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(NotASelect, match="Did you mean runs"):
        checked(parser, "SELECT * FROM runz")
