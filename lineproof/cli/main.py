"""The command line. Data on stdout, everything else on stderr."""

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.markup import escape

from lineproof.cli import dead_letters, diff, gaps, maintain, quality, replay, tail
from lineproof.cli.options import ConfigOption, OutputOption, SetOption
from lineproof.cli.output import Format, err, out, progress, show
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings, load

app = typer.Typer(
    name="lineproof",
    help="Lineage you can prove: OpenLineage events from Kafka into Delta tables that add up.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

certificates = typer.Typer(help="Certificate chains.", no_args_is_help=True)
app.add_typer(certificates, name="certificates")
pipelines = typer.Typer(
    help="The twelve reference pipelines, which emit lineage as a service would.", no_args_is_help=True
)
app.add_typer(pipelines, name="pipelines")
app.add_typer(quality.app, name="quality")
app.add_typer(dead_letters.app, name="dead-letters")
app.command()(tail.tail)
app.command()(replay.replay)
app.command()(diff.diff)
app.command()(gaps.gaps)
app.command()(maintain.maintain)

EXTRAS = {
    **dict.fromkeys(("pyspark", "delta", "duckdb", "deltalake", "pyarrow", "py4j"), "streaming"),
    "great_expectations": "streaming,quality",
}
"""What the emitter's users need not install, and where it comes from."""

AcceptLossOption = Annotated[
    int | None,
    typer.Option(
        metavar="BATCH",
        help="Go on without records that the topic has lost; the refusal names the number, good for that loss only.",
    ),
]
RestoreOption = Annotated[
    bool, typer.Option("--restore-checkpoint", help="Make ingest's checkpoint, if it is lost, anew from the archive.")
]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; print our own errors without a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    is_verbose = "-v" in arguments or "--verbose" in arguments
    # Errors reach people as LineproofError; what libraries log on the way is for -v. Our own warnings are for everyone.
    logging.basicConfig(
        level=logging.INFO if is_verbose else logging.CRITICAL,
        format="%(levelname)s %(name)s: %(message)s" if is_verbose else "%(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("lineproof").setLevel(logging.INFO if is_verbose else logging.WARNING)
    try:
        app(arguments, standalone_mode=True)
    except ModuleNotFoundError as error:
        extras = EXTRAS.get(str(error.name).partition(".")[0])
        if extras is None:
            raise
        err.print(f"[bold red]Error:[/] This command needs {error.name}, which is not installed.")
        err.print(f"Run: pip install 'lineproof[{extras}]'", markup=False)
        sys.exit(1)
    except LineproofError as error:
        if is_verbose:
            err.print_exception()
        err.print(f"[bold red]Error:[/] {escape(error.what)}")
        err.print(escape(error.remedy))
        sys.exit(error.exit_code)


@app.callback()
def _root(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show tracebacks and log messages.")] = False,
) -> None:
    """Lineage you can prove."""


@app.command()
def demo(config: ConfigOption = None, set_: SetOption = None) -> None:
    """Start a broker, publish a few hundred events, run the job, and show what came out.

    [bold]Example:[/] lineproof demo
    """
    from lineproof.local.demo import demo as run_demo

    if not run_demo(load(config, set_ or ())):
        raise typer.Exit(3)


@app.command()
def up(
    config: ConfigOption = None,
    set_: SetOption = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Return once it runs; stop it with `down`.")] = False,
    accept_loss: AcceptLossOption = None,
    restore_checkpoint: RestoreOption = False,
) -> None:
    """Run a broker and the job on this machine until Ctrl-C. Continues where it stopped.

    [bold]Example:[/] lineproof up --detach
    """
    from lineproof.local import services
    from lineproof.local.job_runner import Recovery

    settings = load(config, set_ or ())
    if detach:
        arguments = [
            *(["--config", str(config)] if config else []),
            *(f"--set={one}" for one in set_ or ()),
            *([f"--accept-loss={accept_loss}"] if accept_loss is not None else []),
            *(["--restore-checkpoint"] if restore_checkpoint else []),
        ]
        with err.status("Starting broker and job…"):
            services.up_detached(arguments, settings)
        err.print("Running. `lineproof status` shows how it is, `lineproof down` stops it.")
    else:
        err.print("Starting broker and job…")
        services.up(
            settings,
            _print_progress,
            lambda address: err.print(f"Running; broker at {address}. Ctrl-C stops."),
            Recovery(accept_loss, restore_checkpoint),
        )
        err.print("Stopped.")


@app.command()
def down(config: ConfigOption = None, set_: SetOption = None) -> None:
    """Stop what `up` started.

    [bold]Example:[/] lineproof down
    """
    from lineproof.local import services

    with err.status("Stopping…"):
        was_running = services.down(load(config, set_ or ()))
    err.print("Stopped." if was_running else "Nothing was running.")


@app.command()
def status(config: ConfigOption = None, set_: SetOption = None, output: OutputOption = Format.TABLE) -> None:
    """Show whether broker and job run, and how far the tables are behind the topic.

    [bold]Example:[/] lineproof status -o json
    """
    from lineproof.local.status import status as look

    report = look(load(config, set_ or ()))
    show(["what", "state"], list(report.items()), output)


@app.command()
def bench(
    events: Annotated[int, typer.Option(min=1000, help="How many records each topic has.")] = 1_000_000,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here, too.")] = None,
    table_file: Annotated[Path | None, typer.Option("--table", help="And as a Markdown table here.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show where the time of one batch goes, instead.")] = False,
    config: ConfigOption = None,
    set_: SetOption = None,
) -> None:
    """Measure the job against a plain copy of the same topic from Kafka to Delta.

    Absolute figures are those of this machine; the ratios are those of one run. Without kafka.bootstrap.servers it
    starts a broker of its own. Its topics are named bench.*. On a small machine begin with fewer events.

    [bold]Example:[/] lineproof bench --events 100000
    """
    from lineproof.bench import run

    settings = load(config, set_ or ())
    if explain:
        run.explain(settings, events, json_file)
    else:
        run.bench(settings, events, json_file, table_file)


@app.command()
def job(
    config: ConfigOption = None,
    set_: SetOption = None,
    trigger: Annotated[
        str | None,
        typer.Option(help="available-now (catch up and end), or how often to look: 500ms, 10s, 5m."),
    ] = None,
    create_topics: Annotated[bool, typer.Option("--create-topics", help="Create topics that are missing.")] = False,
    accept_loss: AcceptLossOption = None,
    restore_checkpoint: RestoreOption = False,
) -> None:
    """Run the streaming job against any broker.

    [bold]Example:[/] lineproof job --trigger available-now -s kafka.bootstrap.servers=localhost:9092
    """
    from lineproof.local.job_runner import Recovery, job_log, run_job
    from lineproof.streaming.session import was_submitted

    settings = load(config, [*(set_ or ()), *([f"trigger={trigger}"] if trigger else [])])
    err.print(f"Tables {escape(settings.tables_path)}")
    if not was_submitted():
        err.print(f"Log    {escape(str(job_log(settings).absolute()))}")
    run_job(
        settings,
        create_topics=create_topics,
        report=_print_progress,
        started=lambda: err.print(f"Reading {escape(settings.topics.events)}. Ctrl-C stops."),
        recovery=Recovery(accept_loss, restore_checkpoint),
    )


@app.command()
def emit(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="OpenLineage JSON or JSON lines, also gzipped; - for stdin.")
    ],
    config: ConfigOption = None,
    set_: SetOption = None,
) -> None:
    """Publish OpenLineage events from files of any size, byte for byte. Invalid ones are named and not sent.

    Whatever stopped it, the same command goes on where it was, as long as the files are the same. An event that comes
    twice counts once.

    [bold]Example:[/] lineproof emit export-2025.jsonl.gz export-2026.jsonl
    """
    from rich.progress import DownloadColumn

    from lineproof.topics.load import Load

    load_of_files = Load(files, load(config, set_ or ()))
    before = load_of_files.position
    if before.sent or before.refused:
        err.print(escape(f"Going on after {before.sent:,} events. To begin anew, {load_of_files.forget()}."))
    try:
        with progress(DownloadColumn()) as bar:
            task = bar.add_task("Sending", total=load_of_files.bytes)

            def report(sent: int, read: int) -> None:
                bar.update(task, completed=read, description=f"Sending: {sent:,} events")

            done = load_of_files.run(lambda problem: err.print(escape(problem)), report)
            report(done.sent, load_of_files.bytes or 0)
    except KeyboardInterrupt:
        err.print(f"Stopped after {load_of_files.position.sent:,} events. The same command goes on from there.")
        raise typer.Exit(1) from None
    err.print(f"{done.sent} events sent" + (f", {done.refused} refused." if done.refused else "."))
    if done.refused:
        raise typer.Exit(1)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One query, in DuckDB's SQL.")],
    config: ConfigOption = None,
    set_: SetOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Query the tables, without Spark.

    [bold]Example:[/] lineproof sql "SELECT state, count(*) FROM runs GROUP BY state"
    """
    from lineproof.serving.sql import Tables

    result = Tables(load(config, set_ or ()).tables_path).query(query)
    show(result.columns, result.rows, output)


@app.command()
def tables(config: ConfigOption = None, set_: SetOption = None, output: OutputOption = Format.TABLE) -> None:
    """List the tables: rows, files, size, version, place.

    [bold]Example:[/] lineproof tables -o csv
    """
    from lineproof.serving.sql import Tables

    columns, rows = Tables(load(config, set_ or ()).tables_path).overview()
    show(columns, rows, output)


@app.command()
def catalog(
    database: Annotated[str, typer.Option(help="The database (schema) to register them in.")] = "lineproof",
    config: ConfigOption = None,
    set_: SetOption = None,
) -> None:
    """Print SQL that registers tables, views and functions in a Spark catalog.

    [bold]Example:[/] lineproof catalog > lineproof.serving.sql && spark-sql -f lineproof.serving.sql
    """
    from lineproof.serving.catalog import catalog_statements

    for statement in catalog_statements(load(config, set_ or ()).tables_path, database):
        typer.echo(f"{statement};")


@app.command()
def check(config: ConfigOption = None, set_: SetOption = None, output: OutputOption = Format.TABLE) -> None:
    """Check the configuration, Java, the JARs, the broker and the topics.

    [bold]Example:[/] lineproof check --config conf/lineproof.yaml
    """
    from lineproof.local.status import checks

    settings = load(config, set_ or ())
    rows = checks(settings)
    show(["check", "result", "what to do"], rows, output)
    err.print("Settings in force:\n" + escape(_dump(settings)), highlight=False)
    if any(result.startswith("FAILED") for _, result, _ in rows):
        raise typer.Exit(1)


@app.command()
def jars() -> None:
    """Fetch the JARs that Spark and the broker need, with the Ivy that PySpark ships.

    [bold]Example:[/] lineproof jars
    """
    from lineproof.local import jars as library

    with err.status("Looking at the JARs…") as state:
        library.resolve(lambda message: state.update(escape(message)))
    out.print(str(library.jars_home()), highlight=False)


@certificates.command()
def verify(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|TABLE",
            help="A chain: one JSON object a line, oldest first, - for stdin; or the table: certificates.",
        ),
    ],
    head: Annotated[str | None, typer.Option(help="The newest hash you know of: finds a chain cut short.")] = None,
    config: ConfigOption = None,
    set_: SetOption = None,
) -> None:
    """Check certificate chains by computing every hash again, and name the first bad link and why.

    [bold]Example:[/] lineproof certificates verify chain.jsonl
    """
    from lineproof.serving import certificates as library

    if source == library.TABLE and not Path(source).exists():
        report = library.verify_table(load(config, set_ or ()), head)
    else:
        report = library.verify_file(source, head)
    err.print(escape(report.text))
    if not report.holds:
        raise typer.Exit(3)


@pipelines.command("list")
def list_pipelines(output: OutputOption = Format.TABLE) -> None:
    """List the pipelines: service, owner, and the freshness each promises.

    [bold]Example:[/] lineproof pipelines list
    """
    from lineproof.producers.pipelines.catalog import catalog

    rows = [[one.name, one.service, one.owner, one.freshness_minutes, one.documentation] for one in catalog()]
    show(["pipeline", "service", "owner", "fresh within minutes", "documentation"], rows, output)


@pipelines.command("run")
def run_pipelines(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME…|all]", help="Which; all by default.")] = None,
    fail_rate: Annotated[float, typer.Option(min=0, max=1, help="Share of runs that meet a fault.")] = 0.0,
    repeat: Annotated[int, typer.Option(min=1, help="How often each is run.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same faults.")] = 1,
    config: ConfigOption = None,
    set_: SetOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run reference pipelines on sample data and emit their lineage.

    [bold]Example:[/] lineproof pipelines run sroi-calculation --set lineage.transports=console
    """
    from lineproof.local.pipelines import run

    outcomes = run(names or ["all"], load(config, set_ or ()), fail_rate, repeat, seed)
    columns = ["pipeline", "run", "state", "records", "seconds", "error"]
    show(columns, [[o.name, o.run_id, o.state, o.records, round(o.seconds, 2), o.error] for o in outcomes], output)
    if not fail_rate and any(outcome.state != "COMPLETE" for outcome in outcomes):
        raise typer.Exit(1)


def _print_progress(batch: Any) -> None:
    err.print(f"{batch.query} batch {batch.batch}: {batch.rows} records in {batch.seconds:.1f} s")


def _dump(settings: Settings) -> str:
    return str(yaml.safe_dump(settings.masked(), sort_keys=False)).rstrip()
