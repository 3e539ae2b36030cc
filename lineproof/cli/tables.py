"""`lineproof sql`, `tables`, `catalog`: read the tables without Spark."""

from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, print_exact, show


@with_context
def sql(
    context: CommandContext,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A query in DuckDB SQL.")],
    output: OutputOption = Format.TABLE,
) -> None:
    """Query the tables and views with SQL. Does not start Spark.

    [bold]Example:[/] lineproof sql "SELECT state, count(*) FROM runs GROUP BY state"
    """
    from lineproof.serving.sql import Tables

    with Tables(context.settings.tables_path, spill=context.settings.home).stream(query) as result:
        show(result.columns, result.rows, output)


@with_context
def tables(context: CommandContext, output: OutputOption = Format.TABLE) -> None:
    """List the tables with rows, files, size, version and location.

    [bold]Example:[/] lineproof tables -o csv
    """
    from lineproof.serving.sql import Tables

    columns, rows = Tables(context.settings.tables_path).overview()
    show(columns, rows, output)


@with_context
def catalog(
    context: CommandContext,
    database: Annotated[str, typer.Option(metavar="NAME", help="Database (schema) to register them in.")] = "lineproof",
) -> None:
    """Print SQL that registers tables, views and functions in a Spark catalog.

    [bold]Example:[/] lineproof catalog > lineproof.sql && spark-sql -f lineproof.sql
    """
    from lineproof.serving.catalog import catalog_statements

    for statement in catalog_statements(context.settings.tables_path, database):
        print_exact(f"{statement};")
