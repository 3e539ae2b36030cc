"""`lineproof quality`: run suites of expectations, and show the latest results."""

from pathlib import Path
from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show

app = typer.Typer(help="Run data quality tests with Great Expectations, and show their results.", no_args_is_help=True)


@app.command()
@with_context
def run(
    context: CommandContext,
    suites: Annotated[
        list[str] | None, typer.Argument(metavar="SUITE", help="Names of suites to run. Default: all.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Check only rows written since then: 30m, 2h, 1d (ago), or a time such as 2026-01-31T10:00Z. "
            "Expectations about uniqueness, counts or SQL always check all rows.",
        ),
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run suites of expectations, and emit their results as lineage.

    The suites are those that lineproof ships for its own tables, and yours in `conf/suites` (setting quality.suites).
    Exit code 3: an expectation failed, or a suite could not be run.

    [bold]Example:[/] lineproof quality run runs job_io --since 2h
    """
    from lineproof.schemas.durations import moment

    settings, begin = context.settings, moment(since) if since else None
    from lineproof.local.quality import run_suites

    results = run_suites(settings, suites or (), lambda result: err.print(str(result)), begin)
    columns = ["suite", "expectation", "column", "success", "expected", "observed", "unexpected", "error"]
    rows = [
        [
            *(suite.suite, test.expectation, test.column, test.success),
            *(test.expected, test.observed, test.unexpected_count, test.error),
        ]
        for suite in results
        for test in suite.results
    ]
    show(columns, rows, output)
    if not all(suite.passed for suite in results):
        raise typer.Exit(3)


@app.command()
@with_context
def report(
    context: CommandContext,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write an HTML report (Great Expectations Data Docs, self-contained)."),
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show the latest result of every test, failed tests first: of our suites, of dbt and of any other producer.

    Reads the tables; does not start Spark. Results are there when the job has read them from the topic. Exit code 3: a
    test failed.

    [bold]Example:[/] lineproof quality report --html quality.html
    """
    from lineproof.serving.quality_report import COLUMNS, results, write_page

    tests = results(context.settings.tables_path)
    # The terminal has no room for empty columns.
    filled = {name for name in COLUMNS if any(test[name] not in (None, "") for test in tests)}
    columns = [name for name in COLUMNS if output is not Format.TABLE or name in filled]
    show(columns, [[test[name] for name in columns] for test in tests], output)
    failed = sum(not test["success"] for test in tests)
    err.print(f"{len(tests) - failed} of {len(tests)} tests passed.")
    if html:
        from lineproof.quality.html_report import html_report  # takes seconds to load

        write_page(html_report(tests), html)
        err.print(f"Page   {html.absolute()}")
    if failed:
        raise typer.Exit(3)
