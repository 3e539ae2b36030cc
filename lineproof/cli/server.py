"""`lineproof serve` and `lineproof keys`: the HTTP server, and who may use it."""

from enum import Enum
from typing import Annotated

import typer

from lineproof.cli.context import CommandContext, OutputOption, with_context
from lineproof.cli.output import Format, err, out, show

keys_app = typer.Typer(no_args_is_help=True, help="API keys of the HTTP server: add, list, revoke.")


class PartName(str, Enum):
    """The parts of the server, named here for the same reason."""

    GATEWAY = "gateway"
    READ = "read"


class RoleName(str, Enum):
    """The roles, named here so that `--help` loads nothing else."""

    WRITE = "write"
    READ = "read"
    ADMIN = "admin"


@with_context
def serve(
    context: CommandContext,
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: gateway.host, 127.0.0.1.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one. Default: 5000.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen beyond this machine without keys: everyone can read and write.")
    ] = False,
    only: Annotated[
        PartName | None,
        typer.Option(help="gateway: only take events. read: only answer from the tables. Default: both."),
    ] = None,
) -> None:
    """Show lineage in the browser, answer the read API, and take events of any OpenLineage client over HTTP.

    Open the address in a browser. Clients in Python need only OPENLINEAGE_URL, those in Java their own setting for the
    URL (docs/clients). They get an answer when the broker has the events. Without a broker, the server only reads.
    Each request is one JSON line on stdout.

    [bold]Example:[/] lineproof serve, and in the client's environment: OPENLINEAGE_URL=http://localhost:5000
    """
    from lineproof.local.server import Part
    from lineproof.local.server import serve as run_server

    overrides = [f"gateway.{name}={value}" for name, value in (("host", host), ("port", port)) if value is not None]
    run_server(
        context.override(*overrides).settings,
        lambda url: err.print(f"Listening on {url}. Ctrl-C stops.", highlight=False),
        insecure=insecure,
        only=Part(only.value) if only else None,
        say=lambda message: err.print(message, highlight=False),
    )
    err.print("Stopped.")


@keys_app.command()
@with_context
def add(
    context: CommandContext,
    name: Annotated[str, typer.Argument(help="Name of the key: the principal of the events that are sent with it.")],
    role: Annotated[
        RoleName, typer.Option(help="write: send events. read: read tables and metrics. admin: both, and SQL.")
    ] = (RoleName.WRITE),
    namespace: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Job namespaces it may write to, such as `team-a.*`. Repeatable."),
    ] = None,
    rate: Annotated[float | None, typer.Option(min=0.01, help="Events a second it may send. Default: any.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="DURATION", help="How long it is valid, such as 90d. Default: for ever.")
    ] = None,
) -> None:
    """Make a key and print it. It is shown this once; the file has only its hash. A running server knows it at once.

    [bold]Example:[/] lineproof keys add team-a --namespace 'team-a*' --rate 500 --expires 90d
    """
    from lineproof.producers.gateway.keys import KeysFile, Role
    from lineproof.schemas.durations import Duration

    try:
        valid_for = Duration(expires).timedelta if expires else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--expires") from error
    file = KeysFile(context.settings.keys_path)
    key = file.add(name, Role(role.value), namespace or ["*"], rate, valid_for)
    err.print(f"The key {name} is in {file.path}, hashed. It is not shown again:", highlight=False)
    out.print(key, highlight=False)


@keys_app.command("list")
@with_context
def list_keys(context: CommandContext, output: OutputOption = Format.TABLE) -> None:
    """List the keys: all but the keys themselves.

    [bold]Example:[/] lineproof keys list -o json
    """
    from lineproof.producers.gateway.keys import KeysFile

    columns = ["name", "role", "namespaces", "rate", "created_at", "expires_at", "state"]
    rows = [
        (
            *(key.name, key.role.value, ", ".join(key.namespaces), key.rate, key.created_at, key.expires_at),
            "expired" if key.has_expired else "valid",
        )
        for key in KeysFile(context.settings.keys_path).read()
    ]
    show(columns, rows, output)


@keys_app.command()
@with_context
def revoke(context: CommandContext, name: Annotated[str, typer.Argument(help="Name of the key.")]) -> None:
    """Remove a key. A running server refuses it from the next request on.

    [bold]Example:[/] lineproof keys revoke team-a
    """
    from lineproof.producers.gateway.keys import KeysFile

    KeysFile(context.settings.keys_path).revoke(name)
    err.print(f"The key {name} is revoked.", highlight=False)
