"""`lineproof mcp`: the answers as tools for assistants."""

from lineproof.cli.context import CommandContext, with_context


@with_context
def mcp(context: CommandContext) -> None:
    """Answer the questions of an assistant: where does a figure come from, and can it be trusted? Read-only.

    Speaks the Model Context Protocol on stdin and stdout, so it is started by the assistant's program. Needs the
    tables, but neither broker nor Spark. Ends when stdin ends, or at Ctrl-C.

    [bold]Example:[/] lineproof mcp --set tables=/data/lineproof/tables
    """
    from lineproof.local.installation import installation_of
    from lineproof.serving.mcp.server import serve

    settings = context.settings
    serve(settings.tables_path, settings.home, installation_of(settings))
