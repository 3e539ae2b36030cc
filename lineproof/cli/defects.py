"""`lineproof defects`: what is wrong with the events of each producer."""

from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show


@with_context
def defects(
    context: CommandContext,
    code: Annotated[str | None, typer.Argument(metavar="DEFECT", help="Only this defect, with an example.")] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List what is wrong with events that are used all the same, by producer and version.

    With the name of a defect: one event of each producer that has it, to send to the producer's maintainers. Records
    that cannot be used at all: `lineproof dead-letters list`.

    [bold]Example:[/] lineproof defects duplicate_json_key -o json
    """
    from lineproof.serving.defects import defects as find_defects
    from lineproof.serving.defects import example
    from lineproof.serving.sql import Tables

    tables = Tables(context.settings.tables_path)
    found = find_defects(tables, code)
    columns = ["producer", "defect", "events", "last seen", "what the job did", "what to do"]
    rows = [
        [one.producer, one.defect.value, one.events, one.last_at, one.defect.effect, one.defect.remedy] for one in found
    ]
    if code:
        columns = [*columns, "example"]
        rows = [[*row, example(tables, one)] for row, one in zip(rows, found, strict=True)]
    show(columns, rows, output)
    err.print(f"{sum(one.events for one in found):,} defects." if found else "No event has a defect.")
