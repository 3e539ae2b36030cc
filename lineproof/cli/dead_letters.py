"""`lineproof dead-letters`: look at records that cannot be used, and send them again once that is mended."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, out, show

app = typer.Typer(help="Records that cannot be used: list, show, send again.", no_args_is_help=True)

RecordArgument = Annotated[str, typer.Argument(metavar="RECORD", help="As TOPIC/PARTITION/OFFSET.")]
ReasonOption = Annotated[str | None, typer.Option(metavar="CODE", help="Only those with this reason.")]


@app.command("list")
@with_context
def list_letters(
    context: CommandContext,
    reason: ReasonOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that were sent again, and are well.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest.")] = 50,
    output: OutputOption = Format.TABLE,
) -> None:
    """List dead letters, the newest first.

    [bold]Example:[/] lineproof dead-letters list --reason invalid_json
    """
    from lineproof.serving.dead_letters import DeadLetters

    letters = DeadLetters(context.settings.tables_path).outlines(reason)
    shown = [one for one in letters if everything or not one.is_resolved]
    columns = ["record", "came at", "reason", "bytes", "begins with", "sent again"]
    rows = [
        [one.record, one.timestamp, one.reason, one.size, repr(one.beginning or b"")[2:-1], one.outcome]
        for one in shown[:limit]
    ]
    show(columns, rows, output)
    err.print(f"{len(rows)} of {len(shown)} dead letters; {len(letters) - len(shown)} that were sent again are well.")


@app.command("show")
@with_context
def show_letter(
    context: CommandContext,
    record: RecordArgument,
    raw: Annotated[bool, typer.Option("--raw", help="Print the bytes of its value, and nothing else.")] = False,
) -> None:
    """Show one dead letter: why it cannot be used, what to do about it, and its bytes.

    [bold]Example:[/] lineproof dead-letters show lineage.events/0/17 --raw > letter.json
    """
    from lineproof.schemas.reasons import Reason
    from lineproof.serving.dead_letters import DeadLetters

    [letter] = DeadLetters(context.settings.tables_path).named([record])
    if raw:
        sys.stdout.buffer.write(letter.value or b"")
        return
    reason = Reason.of(letter.reason)
    headers = [f"{one['key']}={_text(one['value'])}" for one in letter.headers or ()]
    facts = {
        "record": letter.record,
        "came at": str(letter.timestamp),
        "reason": f"{reason.value}: {reason.meaning}",
        "remedy": reason.remedy,
        "key": _text(letter.key),
        "headers": ", ".join(headers),
        "sent again": f"{letter.redriven_at}: {letter.outcome}" if letter.redriven_at else "",
        "value": _text(letter.value),
    }
    for name, fact in facts.items():
        out.print(f"{name:<10}  {fact}", markup=False, highlight=False, soft_wrap=True)


@app.command()
@with_context
def redrive(
    context: CommandContext,
    records: Annotated[
        list[str] | None, typer.Argument(metavar="RECORD", help="Which, as TOPIC/PARTITION/OFFSET.")
    ] = None,
    reason: ReasonOption = None,
    patch: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Send these bytes instead.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also those that were sent again before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how many, and send nothing.")] = False,
) -> None:
    """Send dead letters to the topic again, after the settings or the job were mended, or patched.

    A letter keeps its key, headers and bytes, and gets a header that says which record it takes the place of; the view
    `redriven` shows what became of it. Nothing is deleted. Run `list` a little later to see whether it went well.

    [bold]Example:[/] lineproof dead-letters redrive --reason unknown_schema_id --dry-run
    """
    from lineproof.local.endpoints import client_options
    from lineproof.serving.dead_letters import DeadLetters, Outline
    from lineproof.topics.cluster import KafkaCluster
    from lineproof.topics.redrive import redrive as send

    if bool(records) == bool(reason):
        raise typer.BadParameter("Name records, or a --reason; one of the two.")
    if patch and len(records or ()) != 1:
        raise typer.BadParameter("A --patch takes the place of one record: name it.")
    settings = context.settings
    there = DeadLetters(settings.tables_path)
    found: Sequence[Outline] = there.named(records) if records else there.outlines(reason)
    chosen = [one.record for one in found if again or one.redriven_at is None]
    topic = settings.topics.events
    if len(chosen) < len(found):
        err.print(f"{len(found) - len(chosen)} were sent again before, and are left alone (--again sends them).")
    if dry_run:
        err.print(escape(f"{len(chosen)} would be sent to {topic}."))
        return
    cluster = KafkaCluster(client_options(settings))
    cluster.require_topics(topic)
    for count in send(there, chosen, cluster, topic, patch.read_bytes() if patch else None):
        err.print(escape(f"{count} of {len(chosen)} sent to {topic}."))


def _text(value: bytes | None) -> str:
    """As text where it is some, else as a Python literal, which tells every byte and moves no cursor."""
    if value is None:
        return "(none)"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return repr(value)
    return text if text.translate({ord("\n"): None, ord("\t"): None}).isprintable() else repr(value)
