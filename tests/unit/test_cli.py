"""The command line teaches itself."""

import pytest
from typer.testing import CliRunner

from lineproof.cli import app, main

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"Example: lineproof {command}" in " ".join(result.output.split())


def test_errors_are_printed_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["sql", "SELECT 1", "--set", "triger=1s"])
    assert exit_.value.code == 2
    printed = capsys.readouterr()
    assert "did you mean 'trigger'" in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_tracebacks_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["-v", "sql", "SELECT 1", "--set", "triger=1s"])
    assert "Traceback" in capsys.readouterr().err


def test_usage_errors_exit_with_2() -> None:
    assert CliRunner().invoke(app, ["sql"]).exit_code == 2
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2
