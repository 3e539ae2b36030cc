"""`lineproof tail`: print the records of a topic."""

from collections.abc import Iterable
from itertools import islice, takewhile
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
"""The columns that the terminal shows, by schema; JSON output has all of them."""
OTHER_COLUMNS = ("timestamp", "key", "headers", "record")


@with_context
def tail(
    context: CommandContext,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC", help="events, runs, violations, quality or dead-letters; or the name of any topic."
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new records until Ctrl-C.")] = False,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Print from the first record of the topic.")
    ] = False,
    count: Annotated[
        int | None,
        typer.Option(
            "-n",
            min=0,
            help=f"Print this many of the last records (default {DEFAULT_LAST}); with --from-beginning, stop after "
            "this many.",
        ),
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Print decoded records of a topic, one line each; with -o json, one complete JSON object per line.

    Does not join a consumer group, and moves no offsets.

    [bold]Example:[/] lineproof tail violations --follow -o json
    """
    from lineproof.local.endpoints import client_options, registry_of
    from lineproof.local.stop_signal import StopSignal
    from lineproof.topics import tail as library

    settings = context.settings
    topics = {field: value for field, value in settings.topics if isinstance(value, str)}
    name, registry = library.topic_named(topic, topics), registry_of(settings)
    last = None if from_beginning else DEFAULT_LAST if count is None else count
    schemas, stop = registry.registered(name) if registry else {}, StopSignal()
    if follow:
        stop.listen()  # an exception inside the Kafka client could get lost
    records = library.tail(client_options(settings), name, schemas, last=last, follow=follow, is_stopping=stop)
    printed = takewhile(lambda _: not stop(), islice(records, count) if from_beginning else records)
    try:
        if not _print(printed, output) and not stop():
            err.print(f"There are no records on {name}.")
    except KeyboardInterrupt:
        return


def _print(records: Iterable["DecodedRecord"], output: Format) -> bool:
    """Print the records; return whether there were any."""
    has_records = False
    lines: dict[str, Lines] = {}
    for record in records:
        has_records = True
        if output is Format.JSON:
            print_line(record.document())
            continue
        schema = (record.schema or "").partition(" ")[0]
        columns = COLUMNS.get(schema, OTHER_COLUMNS)
        row = record.record if schema in COLUMNS else record.document()
        lines.setdefault(schema, Lines(columns, output)).print([row.get(column) for column in columns])
    return has_records
