"""Options that most commands have."""

from pathlib import Path
from typing import Annotated

import typer

from lineproof.cli.output import Format

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="Settings file (YAML). Default: ./lineproof.yaml if it exists."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="NAME=VALUE",
        help="Set one setting, e.g. kafka.bootstrap.servers=HOST:PORT. Repeatable.",
    ),
]
OutputOption = Annotated[Format, typer.Option("--output", "-o", help="How data is printed.")]
