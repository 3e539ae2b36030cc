"""`lineproof replay`: send archived records to a topic again, or rebuild tables from them."""

import tempfile
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineproof.cli.context import CommandContext, with_context
from lineproof.cli.output import err, progress
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings

if TYPE_CHECKING:
    from lineproof.serving.selection import Selection
    from lineproof.streaming.run import Progress


class ReplayTarget(str, Enum):
    """Where records are replayed to."""

    TOPIC = "topic"
    TABLES = "tables"


@with_context
def replay(
    context: CommandContext,
    to: Annotated[
        ReplayTarget,
        typer.Option(help="topic: send the records again. tables: rebuild all tables in another directory."),
    ],
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC|DIR", help="Topic (default: the first of topics.events), or directory for the tables."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="From this Kafka timestamp: 2h (ago), 2026-01-31T10:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before this Kafka timestamp.")] = None,
    job: Annotated[str | None, typer.Option(metavar="NAMESPACE/NAME", help="Runs and events of this job.")] = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="Events of this run.")] = None,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAMESPACE/NAME", help="Runs and events that read, write or describe this dataset."),
    ] = None,
    offsets: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC/PARTITION/FIRST-LAST", help="Records at these offsets of the archive. Repeatable."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0.1, metavar="RECORDS", help="To a topic: maximum number of records per second.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print how many records are selected, and from when.")
    ] = False,
) -> None:
    """Replay the archive, or a part of it, also after the records have expired in Kafka.

    Filters are combined with AND. To a topic: records keep key, value and headers, and get the header
    `lineproof.replayed-from`. To tables: the queries of the job rebuild all tables except the archive; no broker is
    needed, and the live tables are not changed. If a replay is interrupted, run the same command to continue it.

    [bold]Example:[/] lineproof replay --to topic --since 2h --dry-run

    [bold]Example:[/] lineproof replay --to topic lineage.again --job shop/orders --rate 500

    [bold]Example:[/] lineproof replay --to tables rebuilt && lineproof diff rebuilt
    """
    from lineproof.serving.selection import Selection

    settings = context.settings
    selection = Selection(since, until, job, run, dataset, tuple(offsets or ()))
    selection.check()
    if to is ReplayTarget.TABLES and (place is None or rate):
        raise typer.BadParameter("Name a directory." if place is None else "--rate is for --to topic only.")
    if dry_run:
        _print_size(settings, selection)
    elif to is ReplayTarget.TOPIC:
        _to_topic(settings, selection, place or settings.topics.event_topics.first, rate)
    else:
        _to_tables(settings, selection, Path(str(place)).absolute())


def _print_size(settings: Settings, selection: "Selection") -> None:
    from lineproof.serving.archive import Archive
    from lineproof.serving.replay_plan import make_plan

    settings.home.mkdir(parents=True, exist_ok=True)
    with err.status("Reading the archive…"), tempfile.TemporaryDirectory(dir=settings.home) as directory:
        _warn_of_uncurated_records(settings, selection)
        plan = make_plan(Path(directory), {}, selection, settings.tables_path, settings.home)
        size = Archive(settings.tables_path, settings.home).size(plan.filter)
    err.print(f"{size.records:,} records, {size.bytes:,} bytes, from {size.begin} to {size.end}.")


def _to_topic(settings: Settings, selection: "Selection", topic: str, rate: float | None) -> None:
    from lineproof.local.endpoints import client_options
    from lineproof.topics.cluster import KafkaCluster
    from lineproof.topics.replay import replay_to_topic

    _warn_of_uncurated_records(settings, selection)
    with err.status("Reading the archive…"):
        cluster = KafkaCluster(client_options(settings))
        replay = replay_to_topic(settings.tables_path, settings.home, selection, cluster, topic)
    plan = replay.plan
    if replay.sent:
        err.print(f"Continuing the replay of {plan.begun_at}: {replay.sent:,} of {plan.records:,} records are sent.")
        err.print(f"To start over, remove {plan.directory}.")
    try:
        with progress() as bar:
            task = bar.add_task(f"Sending to {topic}", total=plan.records, completed=replay.sent)
            for sent in replay.run(rate):
                bar.update(task, completed=sent)
    except (KeyboardInterrupt, LineproofError) as error:
        err.print(f"Stopped after {replay.sent:,} of {plan.records:,} records. Run the same command to continue.")
        if isinstance(error, LineproofError):
            raise
        raise typer.Exit(1) from None
    err.print(f"{replay.sent:,} records sent to {topic}.")


def _to_tables(settings: Settings, selection: "Selection", directory: Path) -> None:
    from lineproof.local.replay import replay_to_tables
    from lineproof.local.spark_session import spark_session, stop_session
    from lineproof.local.stop_deadline import StopDeadline
    from lineproof.local.stop_signal import StopSignal
    from lineproof.serving.replay_tables import plan_tables
    from lineproof.serving.sql import Tables
    from lineproof.streaming.delta.private_api.jvm_process import jvm_process

    _warn_of_uncurated_records(settings, selection)
    with err.status("Reading the archive…"):
        plan = plan_tables(directory, selection, settings.tables_path, settings.home)

    def rows(table: str) -> int:
        return next((count for name, count, *_ in Tables(str(directory)).overview()[1] if name == table), 0)

    stop = StopSignal()
    stop.listen()
    err.print("Starting Spark…")
    spark = spark_session(settings)
    stop.listen()
    with StopDeadline(stop, jvm_process(spark)):
        try:
            with progress() as bar:
                tasks = {
                    "curate": bar.add_task("Events and runs", total=plan.records, completed=rows("records")),
                    "graph": bar.add_task("Jobs, datasets and lineage", total=None),
                }

                def report(batch: "Progress") -> None:
                    total = plan.records if batch.query == "curate" else rows("lineage_events")
                    bar.update(tasks[batch.query], advance=batch.rows, total=total)

                replay_to_tables(spark, settings, plan, directory, report, stop)
                if not stop():
                    bar.update(tasks["graph"], completed=rows("lineage_events"), total=rows("lineage_events"))
        finally:
            stop_session(spark)
    if stop():
        err.print("Stopped. Run the same command to continue.")
        raise typer.Exit(1)
    err.print(f"{rows('records'):,} records replayed into {directory}. `lineproof diff` compares the tables.")


def _warn_of_uncurated_records(settings: Settings, selection: "Selection") -> None:
    from lineproof.serving.replay_plan import not_curated

    if selection.is_by_content and (count := not_curated(settings.tables_path)) > 0:
        err.print(
            f"{count:,} archived records are not curated yet, so their job, run and dataset are unknown: skipped."
        )
