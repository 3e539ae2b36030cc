"""`lineproof freshness` and `lineproof coverage`: are datasets as new, and lineage as complete, as they should be?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, show

if TYPE_CHECKING:
    from lineproof.serving.answers.freshness import DatasetFreshness


@with_context
def freshness(
    context: CommandContext,
    fail_late: Annotated[bool, typer.Option("--fail-late", help="Exit with code 3 if a dataset is late.")] = False,
    output: OutputOption = Format.TABLE,
) -> None:
    """List all datasets with how old they are and how old they may be, late ones first.

    A limit is declared by the job that writes the dataset, by the list of critical pipelines or by freshness.limits;
    where none is, it is learned from at least 20 gaps between loads. While the job is stopped or behind, or events are
    missing, the verdict is unknown. `goes back to` is the oldest load that the dataset is made from.

    [bold]Example:[/] lineproof freshness --fail-late
    """
    from lineproof.local.installation import installation_of
    from lineproof.serving.answers.freshness import DatasetFreshness, every_freshness
    from lineproof.serving.open_tables import OpenTables

    settings = context.settings
    tables = OpenTables(settings.tables_path).now()
    found = every_freshness(tables, installation_of(settings))
    if output is Format.TABLE:
        show(["verdict", "dataset", "age", "limit", "by", "goes back to", "reason"], map(_shown, found), output)
    else:
        documents = [one.model_dump(mode="json") for one in found]
        columns = [*DatasetFreshness.model_fields]
        show(columns, [[one[column] for column in columns] for one in documents], output)
    counts = {verdict: sum(one.verdict == verdict for one in found) for verdict in ("late", "fresh", "unknown")}
    err.print(", ".join(f"{count:,} {verdict}" for verdict, count in counts.items()) + ".")
    if fail_late and counts["late"]:
        raise typer.Exit(3)


def _shown(one: "DatasetFreshness") -> list[str | None]:
    from lineproof.serving.answers.lineage_overlays import span

    back = one.effective
    return [
        one.verdict,
        f"{one.namespace}/{one.name}",
        None if one.age_s is None else span(one.age_s),
        None if one.limit_s is None else span(one.limit_s),
        one.source,
        f"{back.of.name}, {span(one.effective_age_s or 0)}" if back and back.of.name != one.name else None,
        one.reason,
    ]


@with_context
def coverage(
    context: CommandContext,
    fail_under: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            min=0,
            max=100,
            help="Exit with code 3 if fewer of the critical pipelines were seen, or if nobody knows.",
        ),
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show how many critical pipelines emitted lineage in their period, and what events, runs and datasets have.

    The list of pipelines is a file (coverage.pipelines). Where the whole is not known, there is no share.

    [bold]Example:[/] lineproof coverage --fail-under 90
    """
    from lineproof.local.installation import installation_of
    from lineproof.serving.answers.coverage import coverage as answer
    from lineproof.serving.open_tables import OpenTables

    settings = context.settings
    found = answer(OpenTables(settings.tables_path).now(), installation_of(settings))
    absent = [one.model_dump(mode="json") for one in (*found.missing, *found.unknown)]
    columns = ["what", "covered", "of", "percent", "source", "missing"]
    rows: list[list[Any]] = [
        ["critical pipelines", found.seen, found.of, _percent(found.ratio), found.source, absent],
        *([one.label, one.covered, one.of, _percent(one.ratio), one.source, []] for one in found.counts),
    ]
    if output is Format.JSON:
        show(columns, rows, output)
    else:
        show(columns[:-1], [row[:-1] for row in rows], output)
    for one in (*found.missing, *found.unknown):
        since = f"since {one.missing_since:%Y-%m-%d %H:%M} UTC" if one.missing_since else "never seen"
        err.print(f"Not seen: {one.namespace}/{one.name} ({since})", markup=False)
    if found.unknown_because:
        err.print(f"Not known: {found.unknown_because}.", markup=False)
    if fail_under is not None and (found.ratio is None or 100 * found.ratio < fail_under):
        raise typer.Exit(3)


def _percent(ratio: float | None) -> float | None:
    """Rounded down: 100 only if nothing is missing."""
    return None if ratio is None else int(ratio * 1000) / 10
