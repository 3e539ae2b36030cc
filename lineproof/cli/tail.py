"""`lineproof tail`: look at what is on a topic."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, Lines, err, print_line

if TYPE_CHECKING:
    from lineproof.topics.tail import DecodedRecord

DEFAULT_LAST = 10

COLUMNS = {
    "run": ("ended_at", "state", "successful", "duration_ms", "job_namespace", "job_name", "run_id"),
    "violation": ("stated_at", "kind", "stands", "verdict", "subject", "detail"),
    "quality_result": ("event_time", "success", "namespace", "name", "suite", "expectation", "column", "observed"),
    "envelope": ("event_time", "kind", "event_type", "job_namespace", "job_name", "run_id"),
}
"""What people see of a record; JSON has all of it."""
OTHER_COLUMNS = ("timestamp", "key", "headers", "record")


@with_context
def tail(
    context: CommandContext,
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="runs, violations, quality, dead-letters, events; or a topic's name.")
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    from_beginning: Annotated[bool, typer.Option("--from-beginning", help="All there is, not only the last.")] = False,
    count: Annotated[
        int | None,
        typer.Option("-n", min=0, help=f"So many of the last, by default {DEFAULT_LAST}; or of the first: then end."),
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Print records of a topic, decoded: a line for people, or with -o json one whole JSON object a line.

    Reads beside all other consumers, and moves nobody's offsets.

    [bold]Example:[/] lineproof tail violations --follow -o json
    """
    from lineproof.local.endpoints import client_options, registry_of
    from lineproof.topics import tail as library

    settings = context.settings
    topics = {field: value for field, value in settings.topics if isinstance(value, str)}
    name, registry = library.topic_named(topic, topics), registry_of(settings)
    last = None if from_beginning else DEFAULT_LAST if count is None else count
    records = library.tail(
        client_options(settings), name, registry.known(name) if registry else {}, last=last, follow=follow
    )
    try:
        if not _print(islice(records, count) if from_beginning else records, output):
            err.print(f"There are no records on {name}.", markup=False)
    except KeyboardInterrupt:
        return  # how one leaves what goes on for ever


def _print(records: Iterable["DecodedRecord"], output: Format) -> bool:
    """Returns whether there were any."""
    was_any = False
    lines: dict[str, Lines] = {}
    for one in records:
        was_any = True
        if output is Format.JSON:
            print_line(one.document())
            continue
        kind = (one.schema or "").partition(" ")[0]
        columns = COLUMNS.get(kind, OTHER_COLUMNS)
        row = one.record if kind in COLUMNS else one.document()
        lines.setdefault(kind, Lines(columns, output)).print([row.get(column) for column in columns])
    return was_any
