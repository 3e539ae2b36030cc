"""`lineproof replay`: archived records once more, onto a topic or into tables of their own."""

import tempfile
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lineproof.cli.context import CommandContext, with_context
from lineproof.cli.output import err, progress
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings

if TYPE_CHECKING:
    from lineproof.serving.selection import Selection


class Target(str, Enum):
    """Where records go."""

    TOPIC = "topic"
    TABLES = "tables"


@with_context
def replay(
    context: CommandContext,
    to: Annotated[Target, typer.Option(help="topic: send them again. tables: rebuild all tables, in a place apart.")],
    place: Annotated[
        str | None, typer.Argument(metavar="TOPIC|DIR", help="Which topic (default: topics.events), or directory.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Kafka timestamp from then on: 2h (ago), 2026-01-31T10:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Kafka timestamp before then.")] = None,
    job: Annotated[str | None, typer.Option(metavar="NAMESPACE/NAME", help="Runs and events of this job.")] = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="Events of this run.")] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAMESPACE/NAME", help="Runs and events that read, write or describe it.")
    ] = None,
    offsets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC/PARTITION/FIRST-LAST", help="These records, as the archive knows them. Repeatable."
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0.1, metavar="RECORDS", help="To a topic: at most so many a second.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how much and from when, and do nothing.")] = False,
) -> None:
    """Replay the archive, all of it or a part, also after Kafka has forgotten it.

    All that is said of a part must hold. To a topic, records keep key, value and headers, and get the header
    `lineproof.replayed-from`. Into tables, all but the archive is made anew by the job's own queries; no broker is
    needed, and the live tables are left alone. Whatever stopped a replay, the same command goes on with it.

    [bold]Example:[/] lineproof replay --to topic --since 2h --dry-run

    [bold]Example:[/] lineproof replay --to topic lineage.again --job shop/orders --rate 500

    [bold]Example:[/] lineproof replay --to tables rebuilt && lineproof diff rebuilt
    """
    from lineproof.serving.selection import Selection

    settings = context.settings
    selection = Selection(since, until, job, run, dataset, tuple(offsets or ()))
    selection.check()
    if to is Target.TABLES and (place is None or rate):
        raise typer.BadParameter("Name a directory." if place is None else "--rate is for topics.")
    if dry_run:
        _tell(settings, selection)
    elif to is Target.TOPIC:
        _to_topic(settings, selection, place or settings.topics.events, rate)
    else:
        _to_tables(settings, selection, Path(str(place)).absolute())


def _tell(settings: Settings, selection: "Selection") -> None:
    from lineproof.serving.archive import Archive
    from lineproof.serving.replay_plan import make_plan

    settings.home.mkdir(parents=True, exist_ok=True)
    with err.status("Looking at the archive…"), tempfile.TemporaryDirectory(dir=settings.home) as directory:
        _warn_of_what_is_not_curated(settings, selection)
        plan = make_plan(Path(directory), {}, selection, settings.tables_path, settings.home)
        size = Archive(settings.tables_path, settings.home).size(plan.filter)
    err.print(f"{size.records:,} records, {size.bytes:,} bytes, from {size.begin} to {size.end}.")


def _to_topic(settings: Settings, selection: "Selection", topic: str, rate: float | None) -> None:
    from lineproof.local.endpoints import client_options
    from lineproof.topics.cluster import KafkaCluster
    from lineproof.topics.replay import replay_to_topic

    _warn_of_what_is_not_curated(settings, selection)
    with err.status("Looking at the archive…"):
        cluster = KafkaCluster(client_options(settings))
        replay = replay_to_topic(settings.tables_path, settings.home, selection, cluster, topic)
    plan = replay.plan
    if replay.sent:
        err.print(
            f"Going on after {replay.sent:,} of {plan.records:,} records, with what was begun at {plan.begun_at}."
        )
        err.print(escape(f"To begin anew, remove {plan.directory}."))
    try:
        with progress() as bar:
            task = bar.add_task(escape(f"Sending to {topic}"), total=plan.records, completed=replay.sent)
            for sent in replay.run(rate):
                bar.update(task, completed=sent)
    except (KeyboardInterrupt, LineproofError) as error:
        err.print(f"Stopped after {replay.sent:,} of {plan.records:,} records. The same command goes on from there.")
        if isinstance(error, LineproofError):
            raise
        raise typer.Exit(1) from None
    err.print(escape(f"{replay.sent:,} records sent to {topic}."))


def _to_tables(settings: Settings, selection: "Selection", directory: Path) -> None:
    from lineproof.local.job_runner import StopSignal
    from lineproof.local.replay import replay_to_tables
    from lineproof.local.spark_session import spark_session
    from lineproof.serving.replay_tables import plan_tables
    from lineproof.serving.sql import Tables

    _warn_of_what_is_not_curated(settings, selection)
    with err.status("Looking at the archive…"):
        plan = plan_tables(directory, selection, settings.tables_path, settings.home)

    def rows(table: str) -> int:
        return next((count for name, count, *_ in Tables(str(directory)).overview()[1] if name == table), 0)

    stop = StopSignal()
    stop.listen()
    with err.status("Starting Spark…"):
        spark = spark_session(settings)
    stop.listen()
    try:
        with progress() as bar:
            tasks = {
                "curate": bar.add_task("Archive to events and runs", total=plan.records, completed=rows("records")),
                "graph": bar.add_task("Events to jobs, datasets, edges", total=None),
            }

            def report(batch: Any) -> None:
                total = plan.records if batch.query == "curate" else rows("lineage_events")
                bar.update(tasks[batch.query], advance=batch.rows, total=total)

            replay_to_tables(spark, settings, plan, directory, report, stop)
            if not stop():
                bar.update(tasks["graph"], completed=rows("lineage_events"), total=rows("lineage_events"))
    finally:
        spark.stop()
    if stop():
        err.print("Stopped. The same command goes on from there.")
        raise typer.Exit(1)
    err.print(escape(f"{rows('records'):,} records replayed into {directory}. `lineproof diff` compares the tables."))


def _warn_of_what_is_not_curated(settings: Settings, selection: "Selection") -> None:
    from lineproof.serving.replay_plan import not_curated

    if selection.is_by_content and (count := not_curated(settings.tables_path)) > 0:
        err.print(f"{count:,} archived records are not curated yet, so nobody knows whether they are meant: left out.")
