"""The tables, views and functions as a Spark catalog knows them."""

from lineproof.schemas.views import FUNCTIONS, VIEWS, for_spark
from lineproof.streaming.job import TABLES


def catalog_statements(root: str, database: str) -> list[str]:
    """SQL that registers everything, and may be run again after an upgrade. No data is moved."""
    place = root.rstrip("/").replace("'", "\\'")
    return [
        f"CREATE DATABASE IF NOT EXISTS `{database}`",
        f"USE `{database}`",
        *(f"CREATE TABLE IF NOT EXISTS {table.name} USING DELTA LOCATION '{place}/{table.name}'" for table in TABLES),
        *(statement.strip() for statement in for_spark([*VIEWS, *FUNCTIONS], temporary=False)),
    ]
