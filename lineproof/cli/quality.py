"""`lineproof quality`: run suites, and show how every test last went."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show

app = typer.Typer(help="Tests of datasets, by Great Expectations, whose results are lineage.", no_args_is_help=True)


@app.command()
@with_context
def run(
    context: CommandContext,
    suites: Annotated[list[str] | None, typer.Argument(metavar="SUITE", help="Which; all by default.")] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Where an expectation is about single rows, look only at those written since: 30m, 2h, 1d, or a time "
            "such as 2026-01-31T10:00Z. Unique values, counts and SQL are always about all rows.",
        ),
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run suites of expectations, ours and those in `conf/suites`, and emit what they find as lineage.

    Exit code 3 says that something is not as expected, or that a suite could not be run.

    [bold]Example:[/] lineproof quality run runs edges --since 2h
    """
    from lineproof.schemas.durations import moment

    settings, begin = context.settings, moment(since) if since else None
    from lineproof.local.quality import run_suites

    outcomes = run_suites(settings, suites or (), lambda one: err.print(escape(str(one))), begin)
    columns = ["suite", "expectation", "column", "success", "expected", "observed", "unexpected", "error"]
    rows = [
        [one.suite, r.expectation, r.column, r.success, r.expected, r.observed, r.unexpected_count, r.error]
        for one in outcomes
        for r in one.results
    ]
    show(columns, rows, output)
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(3)


@app.command()
@with_context
def report(
    context: CommandContext,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a page, by Great Expectations' Data Docs. It needs no network."),
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show how every test last went, those that failed first: of our suites, of dbt, of whoever emits results.

    What is shown is in the tables, where results come by the topic and the job; no Spark is started. Exit code 3 says
    that a test failed, so that a CI job can wait for it to be mended.

    [bold]Example:[/] lineproof quality report --html quality.html
    """
    from lineproof.serving.quality_report import COLUMNS, results, write_page

    found = results(context.settings.tables_path)
    # A terminal has no room for columns that say nothing.
    is_told = {name for name in COLUMNS if any(one[name] not in (None, "") for one in found)}
    columns = [name for name in COLUMNS if output is not Format.TABLE or name in is_told]
    show(columns, [[one[name] for name in columns] for one in found], output)
    failed = sum(not one["success"] for one in found)
    err.print(f"{len(found) - failed} of {len(found)} tests passed.")
    if html:
        from lineproof.quality.html_report import html_report  # takes seconds to load

        write_page(html_report(found), html)
        err.print(f"Page   {escape(str(html.absolute()))}")
    if failed:
        raise typer.Exit(3)
