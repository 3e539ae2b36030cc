"""`lineproof demo`: start a broker, publish events, run the job, and show the resulting tables."""

import os
import shutil
import sys
import time
from collections.abc import Callable

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from lineproof.cli.output import out, show
from lineproof.connection import emitter_of, transport_of
from lineproof.local.broker import Broker
from lineproof.local.endpoints import client_options
from lineproof.local.job_runner import run_job
from lineproof.local.job_topics import prepare_topics
from lineproof.local.logs import job_log
from lineproof.local.pipelines import PRODUCT
from lineproof.local.services import Service, refuse_if_running
from lineproof.producers.pipelines.noise import Sent, noise
from lineproof.producers.pipelines.runner import PIPELINES, run_pipelines
from lineproof.producers.transports.composite import CompositeTransport
from lineproof.producers.transports.memory import MemoryTransport
from lineproof.quality.row_count_checks import RowCounts, count_rows
from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.reasons import Reason
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.streaming.run import Progress as BatchProgress
from lineproof.topics.cluster import KafkaCluster

EXAMPLE_QUERIES = (
    "SELECT job_name, count(*) AS runs, round(avg(duration_ms)) AS mean_ms FROM runs GROUP BY 1 ORDER BY 1",
    "SELECT verdict, count(*) AS certificates FROM certificate_checks GROUP BY 1",
    "SELECT event->>'$.run.facets.example_team.team' AS team, job_name FROM lineage_events WHERE team IS NOT NULL",
)

REPEAT, FAIL_RATE, SEED = 5, 0.1, 2026
RESEND_EVERY = 5


class DemoFailed(LineproofError):
    """The demo could not be completed."""


def demo(settings: Settings) -> bool:
    """Run the demo; return whether all row counts agree."""
    refuse_if_running(Service(settings.home))
    settings = settings.model_copy(update={"trigger": AVAILABLE_NOW, "kafka": {}}).with_product(PRODUCT)
    began = time.monotonic()
    broker = Broker(settings.home / "broker")
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    try:
        with Progress(*columns, console=out) as progress:
            task = progress.add_task("Starting a Kafka broker", total=1)
            address = broker.start()
            prepare_topics(settings, create=True)
            progress.update(task, completed=1, description=f"Kafka broker at {address}")

            task = progress.add_task("Running twelve pipelines", total=REPEAT * len(PIPELINES))
            sent = _send(settings, lambda: progress.advance(task))

            tasks = {
                "ingest": progress.add_task("Spark: topic to archive", total=None),
                "curate": progress.add_task("Spark: archive to events and runs", total=None),
                "graph": progress.add_task("Spark: events to jobs, datasets, lineage", total=None),
            }

            def report(batch: BatchProgress) -> None:
                progress.advance(tasks[batch.query], batch.rows)

            if not run_job(settings, create_topics=False, report=report):
                raise KeyboardInterrupt
            for number in tasks.values():
                progress.update(number, total=progress.tasks[number].completed)
            offsets = KafkaCluster(client_options(settings)).offsets(settings.topics.event_topics.first)
            in_topic = sum(end - begin for begin, end in offsets.values())
    finally:
        broker.stop()
    return _show(settings, sent, in_topic, time.monotonic() - began)


def _send(settings: Settings, advance: Callable[[], None]) -> Sent:
    """Run the pipelines, and add what real topics contain: duplicates, unusual runs, and records that are no events."""
    copies = MemoryTransport()
    emitter = emitter_of(settings, CompositeTransport([transport_of(settings), copies]))
    directory = settings.home / "pipelines"
    run_pipelines(
        list(PIPELINES), emitter, directory, repeat=REPEAT, fail_rate=FAIL_RATE, seed=SEED, report=lambda _: advance()
    )
    if not emitter.close(60):
        raise DemoFailed(
            "The broker did not accept the events of the pipelines in time.",
            f"Its log is {settings.home / 'broker' / 'broker.log'}.",
        )
    added, duplicates = noise(), copies.records[::RESEND_EVERY]
    KafkaCluster(client_options(settings)).send(
        settings.topics.event_topics.first, [*duplicates, *added.events, *added.broken]
    )
    return Sent(len(copies.records) + len(added.events), len(duplicates), len(added.broken))


def _show(settings: Settings, sent: Sent, in_topic: int, seconds: float) -> bool:
    tables = Tables(settings.tables_path)

    def scalar(sql: str) -> int:
        return int(tables.query(sql).rows[0][0])

    out.rule("Runs")
    runs = tables.query(
        """
        SELECT job_name AS job, count(*) AS runs, count(*) FILTER (successful) AS successful,
               count(*) FILTER (state = 'FAILED') AS failed, count(*) FILTER (state = 'ABORTED') AS aborted,
               count(*) FILTER (ended_at IS NULL) AS open,
               median(duration_ms)::BIGINT AS median_ms, max(duration_ms) AS longest_ms
        FROM runs GROUP BY 1 ORDER BY 1
        """
    )
    show(runs.columns, runs.rows)

    out.rule("Violations")
    violations = tables.query("SELECT kind, verdict, subject, detail FROM violations ORDER BY ALL")
    show(violations.columns, violations.rows)

    out.rule("Dead letters")
    letters = tables.query("SELECT reason, count(*) FROM dead_letters GROUP BY 1 ORDER BY 1")
    show(["reason", "records", "meaning"], [[code, count, Reason.of(code).meaning] for code, count in letters.rows])

    out.rule("Do the row counts agree?")
    out.print(
        f"This demo sent {sent.records} records: {sent.events} events, {sent.resent} duplicates, "
        f"and {sent.broken} records that are not events."
    )
    archived = scalar("SELECT count(*) FROM archive")
    checks = [RowCounts("records in the topic = archived records", in_topic, archived), *count_rows(scalar)]
    show(
        ["check", "left", "right", "equal"],
        [[counts.name, counts.left, counts.right, "yes" if counts.are_equal else "NO"] for counts in checks],
    )

    out.rule("Files")
    out.print(f"Tables  {settings.tables_path}", highlight=False)
    out.print(f"Logs    {job_log(settings).absolute()}", highlight=False)
    out.print(f"        {(settings.home / 'broker' / 'broker.log').absolute()}", highlight=False)
    out.print(f"Took    {seconds:.0f} s\n", highlight=False)
    command = "lineproof" if shutil.which("lineproof") else os.path.relpath(sys.argv[0])
    out.print("Try next:")
    for query in EXAMPLE_QUERIES:
        out.print(f'  {command} sql "{query.replace("$", chr(92) + "$")}"', markup=False, highlight=False)
    out.print("\nLook at it in the browser:")
    address = f"http://{settings.gateway.host}:{settings.gateway.port}"
    out.print(f"  {command} serve        and open {address}", markup=False, highlight=False)
    return all(counts.are_equal for counts in checks)
