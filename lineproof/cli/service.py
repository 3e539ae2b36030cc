"""`lineproof demo`, `up`, `down`, `status`, `check`, `jars`: a broker and the job on this machine."""

from typing import Annotated

import typer
import yaml
from rich.text import Text

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.job import AcceptLossOption, RebuildOption, RestoreOption, print_progress, say
from lineproof.cli.output import Format, err, out, show


@with_context
def demo(context: CommandContext) -> None:
    """Try everything in one go: start a broker, publish a few hundred events, run the job and show the results.

    [bold]Example:[/] lineproof demo
    """
    from lineproof.local.demo import demo as run_demo

    if not run_demo(context.settings):
        raise typer.Exit(3)


@with_context
def up(
    context: CommandContext,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Run in the background; stop with `lineproof down`.")
    ] = False,
    accept_loss: AcceptLossOption = None,
    restore_checkpoint: RestoreOption = False,
    rebuild: RebuildOption = False,
    gateway: Annotated[
        bool,
        typer.Option(help="Also take events over HTTP, as `lineproof serve` does; on a free port if 5000 is taken."),
    ] = True,
) -> None:
    """Run a broker, the job and the HTTP gateway on this machine until Ctrl-C. Continues where it stopped.

    [bold]Example:[/] lineproof up --detach
    """
    from lineproof.local import services
    from lineproof.local.job_config import Recovery
    from lineproof.local.server_process import RunningServer

    if detach:
        arguments = [
            *context.arguments,
            *([f"--accept-loss={accept_loss}"] if accept_loss is not None else []),
            *(["--restore-checkpoint"] if restore_checkpoint else []),
            *(["--rebuild"] if rebuild else []),
            *([] if gateway else ["--no-gateway"]),
        ]
        with err.status("Starting broker and job…"):
            services.up_detached(arguments, context.settings)
        server = RunningServer.of(context.settings.home)
        where = f" Server at {server.url}: page, API and gateway." if server else ""
        err.print(f"Running.{where} `lineproof status` shows its state, `lineproof down` stops it.")
    else:
        err.print("Starting broker and job…")
        services.up(
            context.settings,
            print_progress,
            lambda address: err.print(f"Running; broker at {address}. Ctrl-C stops."),
            Recovery(accept_loss, restore_checkpoint, rebuild),
            say,
            context.arguments if gateway else None,
        )
        err.print("Stopped.")


@with_context
def down(context: CommandContext) -> None:
    """Stop the broker, the job and the gateway that `lineproof up` started.

    [bold]Example:[/] lineproof down
    """
    from lineproof.local import services

    with err.status("Stopping…"):
        was_running = services.down(context.settings, lambda message: err.print(message))
    err.print("Stopped." if was_running else "Nothing was running.")


@with_context
def status(context: CommandContext, output: OutputOption = Format.TABLE) -> None:
    """Show whether broker and job are running, and how far the tables are behind the topic.

    [bold]Example:[/] lineproof status -o json
    """
    from lineproof.local.status import status as read_status

    show(["what", "state"], list(read_status(context.settings).items()), output)


@with_context
def check(context: CommandContext, output: OutputOption = Format.TABLE) -> None:
    """Check the settings, Java, the JARs, the broker and the topics. Also prints the settings in use, secrets masked.

    Exit code 1: a check failed.

    [bold]Example:[/] lineproof check --config conf/lineproof.yaml
    """
    from lineproof.local.checks import run_checks

    results = run_checks(context.settings)
    show(["check", "result", "what to do"], results, output)
    settings = yaml.safe_dump(context.settings.masked(), sort_keys=False).rstrip()
    err.print(f"Settings in use:\n{settings}", highlight=False)
    if any(result.startswith("FAILED") for _, result, _ in results):
        raise typer.Exit(1)


def jars() -> None:
    """Download the JARs that Spark and the broker need, and print their directory.

    They are resolved by the Ivy that PySpark ships. The other commands do this by themselves when JARs are missing.

    [bold]Example:[/] lineproof jars
    """
    from lineproof.local import jars as library

    with err.status("Checking the JARs…") as state:
        library.resolve(lambda message: state.update(Text(message)))
    out.print(str(library.jars_home()), highlight=False)
