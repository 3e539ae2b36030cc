"""`lineproof diff`: whether two sets of tables say the same."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, progress, show

_SHOWN_OF_HASH = 16


@with_context
def diff(
    context: CommandContext,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Tables, as `replay --to tables` makes them.")],
    other: Annotated[Path | None, typer.Argument(metavar="OTHER", help="Other ones; default: the live tables.")] = None,
    table: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this table. Repeatable.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Name at most so many differing rows of a table.")] = 10,
    output: OutputOption = Format.TABLE,
) -> None:
    """Compare all curated tables with the live ones, row by row. Exit code 3 says that something differs.

    A table's hash is over its rows alone, whatever their order and files: equal hashes, equal tables. Rows that differ
    are named by their key, with the columns. While the job runs, the live tables may be ahead.

    [bold]Example:[/] lineproof diff rebuilt
    """
    from lineproof.serving.delta_reader import local_directory
    from lineproof.serving.diff import TABLES
    from lineproof.serving.diff import diff as compare

    settings = context.settings
    there = other or local_directory(settings.tables_path)
    found = []
    with progress() as bar:
        task = bar.add_task("Comparing", total=len(table or TABLES))
        for one in compare(directory, there, settings.home, table or (), limit):
            found.append(one)
            bar.advance(task)
    columns = ["table", "same", f"rows in {directory}", f"rows in {there}", "differing", "hash", "other hash"]
    is_table = output is Format.TABLE
    width = _SHOWN_OF_HASH if is_table else None
    rows = [
        [
            *(one.name, "yes" if one.is_same else "NO", one.rows_here, one.rows_there, one.differing),
            *((text[:width] if text else "no table") for text in (one.hash_here, one.hash_there)),
        ]
        for one in found
    ]
    named = [[f"{one.name} {'/'.join(map(str, row.key))}", row.description] for one in found for row in one.rows]
    if is_table:
        show(columns, rows, output)
        if named:
            show(["row", "what"], named, output)
    else:
        by_table = [[row for row in named if row[0].startswith(f"{one.name} ")] for one in found]
        show([*columns, "rows"], [[*row, some] for row, some in zip(rows, by_table, strict=True)], output)
    differing = [one.name for one in found if not one.is_same]
    if differing:
        err.print(escape(f"{len(differing)} of {len(found)} tables differ: {', '.join(differing)}."))
        raise typer.Exit(3)
    err.print(f"{len(found)} tables, all the same.")
