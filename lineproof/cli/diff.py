"""`lineproof diff`: compare two sets of tables."""

from pathlib import Path
from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, progress, show

_HASH_CHARACTERS = 16
"""How much of a hash the terminal shows."""


@with_context
def diff(
    context: CommandContext,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Tables, such as `replay --to tables` writes.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="OTHER", help="Tables to compare with. Default: the live tables.")
    ] = None,
    tables: Annotated[
        list[str] | None, typer.Option("--table", metavar="NAME", help="Only this table. Repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Maximum number of differing rows to list per table.")] = 10,
    output: OutputOption = Format.TABLE,
) -> None:
    """Compare all curated tables with the live tables, row by row.

    The hash of a table depends only on its rows, not on their order or on files: equal hashes mean equal tables.
    Differing rows are listed by key, with the columns that differ. While the job runs, the live tables may be ahead.
    Exit code 3: tables differ.

    [bold]Example:[/] lineproof diff rebuilt
    """
    from lineproof.serving.delta_reader import local_directory
    from lineproof.serving.diff import TABLES
    from lineproof.serving.diff import diff as compare

    settings = context.settings
    there = other or local_directory(settings.tables_path)
    found = []
    with progress() as bar:
        task = bar.add_task("Comparing", total=len(tables or TABLES))
        for comparison in compare(directory, there, settings.home, tables or (), limit):
            found.append(comparison)
            bar.advance(task)
    columns = ["table", "same", f"rows in {directory}", f"rows in {there}", "differing", "hash", "other hash"]
    width = _HASH_CHARACTERS if output is Format.TABLE else None
    rows = [
        [
            *(table.name, "yes" if table.is_same else "NO", table.rows_here, table.rows_there, table.differing),
            *((text[:width] if text else "no table") for text in (table.hash_here, table.hash_there)),
        ]
        for table in found
    ]
    differing_rows = [
        [[f"{table.name} {'/'.join(map(str, row.key))}", row.description] for row in table.rows] for table in found
    ]
    if output is Format.TABLE:
        show(columns, rows, output)
        if any(differing_rows):
            show(["row", "what"], [row for rows_of_table in differing_rows for row in rows_of_table], output)
    else:
        listed = [[*row, rows_of_table] for row, rows_of_table in zip(rows, differing_rows, strict=True)]
        show([*columns, "rows"], listed, output)
    differing = [table.name for table in found if not table.is_same]
    if differing:
        err.print(f"{len(differing)} of {len(found)} tables differ: {', '.join(differing)}.")
        raise typer.Exit(3)
    err.print(f"{len(found)} tables, all the same.")
