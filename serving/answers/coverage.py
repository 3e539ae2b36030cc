"""Which of the critical pipelines emit lineage."""

from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.model import Answer, Name
from lineproof.serving.open_tables import TableSet

SQL = "SELECT DISTINCT namespace, name FROM jobs ORDER BY namespace, name"


class Coverage(Answer):
    """How many of the listed pipelines were seen. `of` is null without a list."""

    seen: int
    of: int | None
    ratio: float | None
    missing: list[Name]
    sql: str = SQL


def coverage(tables: TableSet, installation: Installation) -> Coverage:
    """Jobs in the tables against the list of the installation."""
    if installation.pipelines is None:
        return Coverage(seen=tables.scalar("SELECT count(*) FROM jobs"), of=None, ratio=None, missing=[])
    known = {(row[0], row[1]) for row in tables.query("SELECT namespace, name FROM jobs").rows}
    missing = [pair for pair in installation.pipelines if pair not in known]
    listed = len(installation.pipelines)
    return Coverage(
        seen=listed - len(missing),
        of=listed,
        ratio=(listed - len(missing)) / listed if listed else None,
        missing=[Name(namespace=namespace, name=name) for namespace, name in missing],
    )
