"""`lineproof dead-letters`: list and show records that cannot be processed, and send them again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, out, print_bytes, show
from lineproof.schemas.control_characters import visible

app = typer.Typer(help="List, show and resend records that cannot be processed.", no_args_is_help=True)

RecordArgument = Annotated[str, typer.Argument(metavar="RECORD", help="The record, as TOPIC/PARTITION/OFFSET.")]
ReasonOption = Annotated[str | None, typer.Option(metavar="CODE", help="Only records with this reason.")]


@app.command("list")
@with_context
def list_letters(
    context: CommandContext,
    reason: ReasonOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Include records that were resolved by a redrive.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of records to list.")] = 50,
    output: OutputOption = Format.TABLE,
) -> None:
    """List dead letters, newest first.

    [bold]Example:[/] lineproof dead-letters list --reason invalid_json
    """
    from lineproof.serving.dead_letters import DeadLetters

    letters = DeadLetters(context.settings.tables_path).outlines(reason)
    listed = [letter for letter in letters if everything or not letter.is_resolved]
    columns = ["record", "came at", "reason", "bytes", "begins with", "sent again"]
    rows = [
        [letter.record, letter.timestamp, letter.reason, letter.size, _excerpt(letter.beginning), letter.outcome]
        for letter in listed[:limit]
    ]
    show(columns, rows, output)
    resolved = len(letters) - len(listed)
    err.print(f"{len(rows)} of {len(listed)} dead letters; {resolved} more were resolved by a redrive.")


@app.command("show")
@with_context
def show_letter(
    context: CommandContext,
    record: RecordArgument,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw", help="Print only the bytes of the value; on a terminal, with control characters visible."
        ),
    ] = False,
) -> None:
    """Show a dead letter: why it cannot be processed, what to do, and its bytes.

    [bold]Example:[/] lineproof dead-letters show lineage.events/0/17 --raw > letter.json
    """
    from lineproof.schemas.reasons import Reason
    from lineproof.serving.dead_letters import DeadLetters

    [letter] = DeadLetters(context.settings.tables_path).named([record])
    if raw:
        print_bytes(letter.value or b"")
        return
    reason = Reason.of(letter.reason)
    headers = [f"{header['key']}={_text(header['value'])}" for header in letter.headers or ()]
    fields = {
        "record": letter.record,
        "came at": str(letter.timestamp),
        "reason": f"{reason.value}: {reason.meaning}",
        "remedy": reason.remedy,
        "key": _text(letter.key),
        "headers": ", ".join(headers),
        "sent again": f"{letter.redriven_at}: {letter.outcome}" if letter.redriven_at else "",
    }
    for name, text in fields.items():
        out.print(f"{name:<10}  {visible(text)}", highlight=False)
    out.print(f"{'value':<10}  {_text(letter.value)}", highlight=False)


@app.command()
@with_context
def redrive(
    context: CommandContext,
    records: Annotated[
        list[str] | None, typer.Argument(metavar="RECORD", help="Records to send, as TOPIC/PARTITION/OFFSET.")
    ] = None,
    reason: ReasonOption = None,
    patch: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Send the bytes of this file as the value."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Include records that were sent again before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print how many records would be sent.")] = False,
) -> None:
    """Send dead letters to the topic again, after you have fixed the settings or the bytes, or upgraded the job.

    A record keeps its key, headers and bytes, and gets a header that names the record it replaces. The view `redriven`
    shows the result. Nothing is deleted. Run `dead-letters list` when the job has read the new records.

    [bold]Example:[/] lineproof dead-letters redrive --reason unknown_schema_id --dry-run
    """
    from lineproof.local.endpoints import client_options
    from lineproof.serving.dead_letters import DeadLetters, Outline
    from lineproof.topics.cluster import KafkaCluster
    from lineproof.topics.redrive import redrive as send

    if bool(records) == bool(reason):
        raise typer.BadParameter("Name either records or a --reason.")
    if patch and len(records or ()) != 1:
        raise typer.BadParameter("--patch replaces the bytes of one record: name that record.")
    settings = context.settings
    letters = DeadLetters(settings.tables_path)
    found: Sequence[Outline] = letters.named(records) if records else letters.outlines(reason)
    chosen = [letter.record for letter in found if again or letter.redriven_at is None]
    topic = settings.topics.event_topics.first
    if len(chosen) < len(found):
        err.print(f"{len(found) - len(chosen)} were sent again before, and are skipped (--again sends them).")
    if dry_run:
        err.print(f"{len(chosen)} would be sent to {topic}.")
        return
    cluster = KafkaCluster(client_options(settings))
    cluster.require_topics(topic)
    for count in send(letters, chosen, cluster, topic, patch.read_bytes() if patch else None):
        err.print(f"{count} of {len(chosen)} sent to {topic}.")


def _excerpt(value: bytes | None) -> str:
    return repr(value or b"")[2:-1]


def _text(value: bytes | None) -> str:
    """UTF-8 as text; other bytes as a Python literal."""
    if value is None:
        return "(none)"
    try:
        return value.decode()
    except UnicodeDecodeError:
        return repr(value)
