"""`lineproof gaps`: check that the archive has every record of the topic."""

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show


@with_context
def gaps(context: CommandContext, output: OutputOption = Format.TABLE) -> None:
    """Compare the offsets in the archive with those of the topic, and list missing offsets and the likely cause.

    Not every offset is a record (transaction markers, compaction): as long as the topic still has the range, it is
    looked up there. Records that are not archived yet are listed, but are not a loss. Exit code 3: records are lost,
    or may be.

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
        cluster = KafkaCluster(options)
        topics = {*settings.topics.event_topics.names, *settings.topics.event_topics.matching(cluster.topics())}
        found = list(find_gaps(tables, sorted(topics), cluster, options, settings.isolation_level))
    columns = ["topic", "partition", "first", "last", "offsets", "what"]
    rows = [[gap.topic, gap.partition, gap.first, gap.last, gap.offsets, gap.kind.value] for gap in found]
    show(columns, rows, output)
    lost = sum(gap.offsets for gap in found if gap.kind.may_be_loss)
    err.print(f"{records:,} records are archived; {lost:,} offsets are lost, or may be.")
    if lost:
        raise typer.Exit(3)
