"""Help, errors, exit codes and shared options of the command line."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lineproof.cli.main import app, main
from lineproof.producers.chain import Chain
from lineproof.settings import Settings
from lineproof.streaming.upkeep.maintenance import MaintenanceResult, TableSize
from tests.certificates import draft

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
COMMANDS += [
    f"{group.name} {command.name or command.callback.__name__}"
    for group in app.registered_groups
    if group.typer_instance
    for command in group.typer_instance.registered_commands
    if command.callback
]
WITHOUT_SETTINGS = ["jars", "pipelines list"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])
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


def test_verbose_shows_tracebacks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["-v", "sql", "SELECT 1", "--set", "triger=1s"])
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in WITHOUT_SETTINGS])
def test_every_command_has_the_shared_options(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    for option in ("--config", "-c", "--set", "-s", "NAME=VALUE"):
        assert option in result.output


def test_shared_options_follow_the_command(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("tables: nowhere\n")
    arguments = ["catalog", "-c", str(file), "--set", f"tables={tmp_path}/first", "-s", f"tables={tmp_path}/second"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert f"{tmp_path}/second/runs" in result.output
    assert "nowhere" not in result.output
    assert f"{tmp_path}/first" not in result.output


def test_the_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output.strip()) == (0, f"lineproof {version('lineproof')}")


def test_a_renamed_command_is_refused_with_its_new_name() -> None:
    result = CliRunner().invoke(app, ["emit", "events.jsonl"])
    assert result.exit_code == 2
    assert "`lineproof emit` is now `lineproof load`." in " ".join(result.output.split())


def test_usage_errors_exit_with_2() -> None:
    assert CliRunner().invoke(app, ["sql"]).exit_code == 2
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2


def test_an_invalid_time_is_refused_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["quality", "run", "--since", "yesterday"])
    assert exit_.value.code == 2
    assert "yesterday is not a time. Say how long ago" in " ".join(capsys.readouterr().err.replace("\n", " ").split())


def test_maintain_refuses_an_unknown_table_before_spark_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["maintain", "compact", "--table", "rnus"])
    assert exit_.value.code == 2
    assert "There is no table rnus.\nDid you mean runs?" in capsys.readouterr().err


def test_maintain_passes_tasks_and_tables_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    size = TableSize(files=3, bytes=10, bytes_on_disk=20)
    asked: list[object] = []

    def maintain_tables(
        settings: Settings,
        tasks: Sequence[str],
        tables: Sequence[str],
        is_dry: bool,
        report: Callable[[str, float], None],
    ) -> list[MaintenanceResult]:
        asked.append((str(settings.home), tasks, tables, is_dry))
        report("runs: compact", 0.5)
        return [MaintenanceResult("runs", size, size, ["3 files compacted"], 0.1)]

    monkeypatch.setattr("lineproof.local.maintenance.maintain_tables", maintain_tables)
    runner, home = CliRunner(), ["--set", f"home={tmp_path}", "-o", "csv"]
    result = runner.invoke(app, ["maintain", "compact", "--table", "runs", "--dry-run", *home])
    assert "runs,3,3,10,10,20,20,0.1,3 files compacted" in result.stdout
    assert runner.invoke(app, ["maintain", *home]).exit_code == 0
    everything = ("retain", "compact", "cluster", "vacuum")
    assert asked == [(str(tmp_path), ("compact",), ["runs"], True), (str(tmp_path), everything, (), False)]


def test_certificates_verify(tmp_path: Path) -> None:
    file = tmp_path / "chain.jsonl"
    chain = Chain(file)
    for number in range(3):
        chain.append(draft(number))
    whole = CliRunner().invoke(app, ["certificates", "verify", str(file)])
    assert (whole.exit_code, whole.output.strip()) == (0, "3 certificates, every link holds.")
    file.write_text(file.read_text().replace("run-1", "run-x"))
    altered = CliRunner().invoke(app, ["certificates", "verify", str(file)])
    assert altered.exit_code == 3
    assert altered.output.strip().endswith("chain.jsonl:2 (certificate-1): altered")
    cut = CliRunner().invoke(app, ["certificates", "verify", "-", "--head", "0" * 63 + "1"], input="")
    assert cut.exit_code == 3
    assert "truncated" in cut.output
