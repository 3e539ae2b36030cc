"""Whether a text is one SELECT that reads nothing but the tables, views and functions of lineproof.

DuckDB's own parser says what the text is. Its statement type is not enough: `WITH x AS (DELETE … RETURNING *) SELECT …`
is a SELECT, too. So everything in the parsed statement must be of a kind that is known to be harmless, and every table
and table function one of ours. Functions that tell about the database, its settings or this machine are refused.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb

from lineproof.schemas.errors import LineproofError, suggest
from lineproof.schemas.tables import TABLES
from lineproof.schemas.views import FUNCTIONS, VIEWS

MAX_CHARACTERS = 20_000
MAX_BRACKETS = 100
"""How deep brackets may nest: the parser needs 1.5 GB for 3,000 that are not closed."""

RELATIONS = frozenset({*(table.name for table in TABLES), *VIEWS})
TABLE_FUNCTIONS = frozenset({*FUNCTIONS, "range", "generate_series", "unnest", "json_each", "json_tree"})

_QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_SOURCES = {"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT", "SHOW_REF"}
_PARTS = re.compile(
    r"\w+_MODIFIER|\w+_TYPE_INFO|ORDER_DEFAULT|ORDER_INVALID|ASCENDING|DESCENDING|ASC|DESC|COLUMN|ROW_COUNT|PERCENT"
)
_DESCRIPTIONS = {"DESCRIBE", "SUMMARY"}
_REFUSED_FUNCTIONS = re.compile(
    r"(pg|has|inet|duckdb|pragma|read|json_serialize|json_deserialize|json_execute)_.*|current_(?!date|timestamp|time$|"
    r"localtime).*|\w*_description|getvariable|getenv|query|query_table|nextval|currval|setval|setseed|write_log|"
    r"sleep_ms|stats|vector_type|version|user|session_user|in_search_path|txid_current|parse_duckdb_log_message|"
    r"get_block_size|glob|which_secret|create_sort_key|invoke"
)


class NotASelect(LineproofError):
    """The text is not one SELECT over the tables of lineproof."""

    exit_code = 2


def checked(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """The SELECT without a closing semicolon, so that it can stand in brackets. Raises NotASelect."""
    _refuse_large(sql)
    serialized = "SELECT json_serialize_sql(?, skip_null := true, skip_empty := true, skip_default := true)"
    row = connection.execute(serialized, [sql]).fetchone()
    try:
        document: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    except RecursionError as error:
        raise _refusal("Its expressions nest too deep.") from error
    if document.get("error"):
        is_other = document.get("error_type") == "not implemented"
        raise _refusal("It is not a SELECT." if is_other else str(document.get("error_message", "No parser reads it.")))
    statements = document["statements"]
    if len(statements) != 1:
        raise _refusal(f"There are {len(statements)} statements.")
    if statements[0].get("named_param_map"):
        raise _refusal("It has parameters, and there are no values for them.")
    _check(statements[0], frozenset())
    return _without_semicolon(sql)


def _refuse_large(sql: str) -> None:
    if len(sql) > MAX_CHARACTERS:
        raise _refusal(f"It has {len(sql):,} characters; the limit is {MAX_CHARACTERS:,}.")
    depth = 0
    for character in sql:
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_BRACKETS:
            raise _refusal(f"Its brackets nest deeper than {MAX_BRACKETS}.")


def _check(value: Any, scope: frozenset[str]) -> None:
    """Check everything below a value. `scope`: the common table expressions that can be named here."""
    pending = [(value, scope)]
    while pending:
        part, names = pending.pop()
        if isinstance(part, dict):
            names |= {str(entry.get("key", "")).lower() for entry in _ctes(part)}
            if part.get("type") == "RECURSIVE_CTE_NODE":
                names |= {str(part.get("cte_name", part.get("ctename", ""))).lower()}
            _check_part(part, names)
            pending += [(member, names) for member in part.values()]
        elif isinstance(part, list):
            pending += [(member, names) for member in part]


def _ctes(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    map_ = part.get("cte_map")
    if isinstance(map_, dict):
        yield from map_.get("map", ())


def _check_part(part: dict[str, Any], scope: frozenset[str]) -> None:
    kind = part.get("type")
    if isinstance(kind, str) and "class" not in part:
        if kind not in _QUERY_NODES | _SOURCES and not _PARTS.fullmatch(kind):
            raise _refusal(f"{_words(kind)} is not allowed.")
        if kind == "BASE_TABLE":
            _check_table(part, scope)
        elif kind == "SHOW_REF" and (part.get("show_type") not in _DESCRIPTIONS or "query" not in part):
            raise _refusal("SHOW is not allowed; DESCRIBE and SUMMARIZE are.")
        elif kind == "TABLE_FUNCTION":
            name = str(part.get("function", {}).get("function_name", "")).lower()
            if name not in TABLE_FUNCTIONS:
                raise _refusal(f"The table function {name[:100]} is not allowed.", sorted(TABLE_FUNCTIONS))
    function = part.get("function_name")
    if isinstance(function, str) and _REFUSED_FUNCTIONS.fullmatch(function.lower()):
        raise _refusal(f"The function {function[:100]} is not allowed.")


def _check_table(part: dict[str, Any], scope: frozenset[str]) -> None:
    path = [str(name).lower() for name in part.get("qualified_name", {}).get("path", [part.get("table_name", "")])]
    name = path[-1]
    is_recurring = len(path) == 2 and path[0] == "recurring" and name in scope
    is_ours = name in RELATIONS and path[:-1] in ([], ["main"], ["memory", "main"])
    if not (is_recurring or is_ours or (len(path) == 1 and name in scope)):
        raise _refusal(f"There is no table or view {'.'.join(path)[:100]}.", sorted(RELATIONS), name)


def _without_semicolon(sql: str) -> str:
    """The text before the semicolon that closes it. A comment behind it is left out."""
    encoded = sql.encode()
    for position, kind in duckdb.tokenize(sql):
        if kind == duckdb.token_type.operator and encoded[position : position + 1] == b";":
            return encoded[:position].decode()
    return sql


def _refusal(why: str, names: list[str] | None = None, name: str = "") -> NotASelect:
    advice = "Send one SELECT over the tables, views and functions of lineproof."
    return NotASelect(f"This is not a query that can be run: {why}", suggest(name, names) if names else advice)


def _words(kind: str) -> str:
    return kind.removesuffix("_QUERY_NODE").removesuffix("_NODE").replace("_", " ")
