"""`lineproof gaps`: whether the archive has all that the topic had."""

import typer
from rich.markup import escape

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show


@with_context
def gaps(context: CommandContext, output: OutputOption = Format.TABLE) -> None:
    """Compare the offsets of the archive with the topic's: what is missing, and what is known of it.

    Offsets that never were records are told from lost ones by asking the topic, as long as it has that range. Exit
    code 3 says that records are lost, or may be. What is only not archived yet is listed, and is no loss.

    [bold]Example:[/] lineproof gaps -o json
    """
    from lineproof.local.endpoints import client_options
    from lineproof.serving.sql import Tables
    from lineproof.topics.cluster import KafkaCluster
    from lineproof.topics.gaps import find_gaps

    settings = context.settings
    options = client_options(settings)
    with err.status("Comparing archive and topic…"):
        tables = Tables(settings.tables_path)
        [(records,)] = tables.query("SELECT count(*) FROM archive").rows
        found = list(find_gaps(tables, settings.topics.events, KafkaCluster(options), options))
    columns = ["topic", "partition", "first", "last", "offsets", "what"]
    show(columns, [[o.topic, o.partition, o.first, o.last, o.offsets, o.kind.value] for o in found], output)
    holes = sum(one.offsets for one in found if one.kind.may_be_loss)
    err.print(escape(f"{records:,} records are archived; {holes:,} offsets are lost, or may be."))
    if holes:
        raise typer.Exit(3)
