"""`lineproof pipelines`: the reference pipelines."""

from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, show

app = typer.Typer(help="Run twelve reference pipelines that emit lineage like a service does.", no_args_is_help=True)


@app.command("list")
def list_pipelines(output: OutputOption = Format.TABLE) -> None:
    """List the pipelines with service, owner and promised freshness.

    [bold]Example:[/] lineproof pipelines list
    """
    from lineproof.producers.pipelines.catalog import catalog

    rows = [
        [pipeline.name, pipeline.service, pipeline.owner, pipeline.freshness_minutes, pipeline.documentation]
        for pipeline in catalog()
    ]
    show(["pipeline", "service", "owner", "fresh within minutes", "documentation"], rows, output)


@app.command("run")
@with_context
def run_pipelines(
    context: CommandContext,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME|all", help="Pipelines to run. Default: all.")
    ] = None,
    fail_rate: Annotated[float, typer.Option(min=0, max=1, help="Share of runs with an injected fault.")] = 0.0,
    repeat: Annotated[int, typer.Option(min=1, help="How many times to run each pipeline.")] = 1,
    seed: Annotated[int, typer.Option(help="Random seed: the same seed injects the same faults.")] = 1,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run reference pipelines on sample data and emit their lineage.

    [bold]Example:[/] lineproof pipelines run sroi-calculation --set emitter.transports=console
    """
    from lineproof.local.pipelines import run

    runs = run(names or ["all"], context.settings, fail_rate, repeat, seed)
    columns = ["pipeline", "run", "state", "records", "seconds", "error"]
    rows = [[run.name, run.run_id, run.state, run.records, round(run.seconds, 2), run.error] for run in runs]
    show(columns, rows, output)
    if not fail_rate and any(run.state != "COMPLETE" for run in runs):
        raise typer.Exit(1)
