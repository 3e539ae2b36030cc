"""SQL statements that register the tables, views and functions in a Spark catalog."""

from lineproof.schemas.tables import TABLES
from lineproof.schemas.views import FUNCTIONS, VIEWS, for_spark


def catalog_statements(root: str, database: str) -> list[str]:
    """SQL that registers everything and may be run again after an upgrade. No data is moved."""
    location = root.rstrip("/").replace("'", "\\'")
    tables = [
        f"CREATE TABLE IF NOT EXISTS {table.name} USING DELTA LOCATION '{location}/{table.name}'" for table in TABLES
    ]
    return [
        f"CREATE DATABASE IF NOT EXISTS `{database}`",
        f"USE `{database}`",
        *tables,
        *(statement.strip() for statement in for_spark([*VIEWS, *FUNCTIONS], temporary=False)),
    ]
