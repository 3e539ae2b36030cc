"""Names of producers are shown as they are, and control no terminal: in any command, format, error, bar or log.

Every run draws a new seed. `TERMINAL_SEED=NUMBER pytest tests/unit/lineproof/test_terminal.py` repeats a run.
"""

import csv
import io
import json
import logging
import os
import pty
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.progress import Progress, TextColumn

from lineproof.cli import output
from lineproof.cli.console import SafeConsole, SafeFormatter, print_traceback
from lineproof.cli.main import main
from lineproof.cli.output import Format, Lines, err, out, print_bytes, print_exact, print_line, show
from lineproof.cli.tail import _print as print_records
from lineproof.local.logs import python_log
from lineproof.schemas.control_characters import visible
from lineproof.serving.dead_letters import DeadLetters
from lineproof.topics.tail import DecodedRecord
from tests.tables import make_tables

CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
PIECES = (
    *("\x1b[31m", "\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\r", "\b", "\x00", "\x7f", "\x85", "\n", "\t"),
    *("\u202e", "\u2066", "\u2069", "\u200f", "\u061c", "\u200b", "\u2028", "\ufeff", "\U000e0041"),
    *(":x:", ":warning:", "[bold]", "[/]", "[red on white]", "[link=http://x]", "\\", "\\[", "]", "{}", "%s", "$HOME"),
    *("<script>alert(1)</script>", "'", '"', "`", ",", ";", "/", "%2F", ":", "=1+1", "x" * 2000),
    *("שלום", "مرحبا", "日本語", "👩‍👩‍👧", "❤️", "é", "e\u0301", " ", ""),
)
NOW = datetime(2026, 1, 31, 10, tzinfo=timezone.utc)


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal, and remembers."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        """What was written to it."""
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


@pytest.fixture
def chance(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Random:
    """Random numbers from a new seed, or from TERMINAL_SEED. It is printed with a failure."""
    seed = int(os.environ.get("TERMINAL_SEED") or secrets.randbits(64))
    print(f"TERMINAL_SEED={seed} pytest {request.node.nodeid}")
    record_property("repeat", f"TERMINAL_SEED={seed} pytest {request.node.nodeid}")
    return Random(seed)


@contextmanager
def a_terminal() -> Iterator[Terminal]:
    """stdout and stderr of what runs meanwhile. In a context, because pytest sets its own after the fixtures."""
    found, own = Terminal(), {"TERM": "dumb", "COLUMNS": "5000"}  # dumb: every escape code would be a producer's
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(found), redirect_stderr(found):
        for name, value in own.items():
            patch.setenv(name, value)
        yield found


def hostile(chance: Random) -> str:
    """A name."""
    return "".join(chance.choices(PIECES, k=chance.randint(1, 6)))


def lake(directory: Path, chance: Random) -> Path:
    """Tables in which every text is hostile."""

    def texts(*names: str) -> dict[str, str]:
        return {name: hostile(chance) for name in names}

    def entities() -> list[dict[str, str]]:
        return [texts("namespace", "name") for _ in range(2)]

    job = ("job_namespace", "job_name")
    rows: dict[str, list[dict[str, Any]]] = {
        "runs": [
            {**texts("run_id", *job, "ledger_verdict"), "state": "COMPLETED", "inputs": entities(), "ended_at": NOW}
            for _ in range(5)
        ],
        "lineage_events": [
            {**texts("event_id", *job, "producer", "error_message", "event"), "event_time": NOW, "inputs": entities()}
            for _ in range(5)
        ],
        "jobs": [texts("namespace", "name", "description", "sql") for _ in range(3)],
        "datasets": [texts("namespace", "name", "description") for _ in range(3)],
        "records": [{"topic": hostile(chance), "partition": 0, "offset": n, "timestamp": NOW} for n in range(3)],
        "quality_results": [
            {
                **texts("result_id", "namespace", "name", "suite", "expectation", "column", "observed", "error"),
                **{"success": n > 1, "event_time": NOW},
            }
            for n in range(4)
        ],
        "dead_letters": [
            {
                **{"topic": hostile(chance), "partition": 0, "offset": n, "timestamp": NOW, "reason": "invalid_json"},
                **{"key": hostile(chance).encode(), "value": hostile(chance).encode() + b"\xff" * chance.randint(0, 1)},
                "headers": [{"key": hostile(chance), "value": hostile(chance).encode()}],
            }
            for n in range(3)
        ],
    }
    columns = {
        "jobs": ["namespace", "name", "description"],
        "datasets": ["namespace", "name"],
    }
    kept = {
        table: [{name: row[name] for name in columns.get(table, row)} for row in of_table]
        for table, of_table in rows.items()
    }
    return make_tables(directory, kept)


def run(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_no_command_lets_control_characters_through(tmp_path: Path, chance: Random) -> None:
    with a_terminal() as terminal:
        tables = lake(tmp_path / "tables", chance)
        at, name = (f"--set=tables={tables}", f"--set=home={tmp_path}"), hostile(chance).replace("\x00", "")
        letters = dead_letters_of(tables)
        commands = [
            *(
                ("sql", f"SELECT * FROM {table}", "-o", form)
                for table in ("runs", "jobs", "dead_letters")
                for form in Format
            ),
            *(("sql", "SELECT * FROM lineage_events", "-o", form) for form in Format),
            *(("sql", f'SELECT 1 AS "{name.replace(chr(34), "")}"', "-o", form) for form in Format),
            *(("sql", text) for text in (name, f"SELECT '{name}'::INT", f"SELECT error('{name}')", f'FROM "{name}"')),
            *(
                (*command, "-o", form)
                for command in (("tables",), ("defects",), ("quality", "report"))
                for form in Format
            ),
            *(("dead-letters", "list", "--all", "-o", form) for form in Format),
            *(("dead-letters", "show", letter, *raw) for letter in letters for raw in ((), ("--raw",))),
            *(("dead-letters", "show", name), ("dead-letters", "list", "--reason", name)),
            *(("catalog", "--database", name), ("diff", name), ("diff", str(tables), "--table", name)),
            *(("certificates", "verify", "certificates"), ("certificates", "verify", name)),
            *(
                ("keys", "revoke", name),
                ("keys", "add", name),
                ("keys", "list"),
                ("load", name),
                ("replay", "--to", name),
            ),
            *((name,), ("sql", f"--{name}"), ("sql", "SELECT 1", "-o", name), ("sql", "SELECT 1", "--set", name)),
            *(("sql", "SELECT 1", "-c", name), ("sql", "SELECT 1", f"--set=tables={name}"), ("-v", "sql", name)),
        ]
        for command in commands:
            before = len(terminal.shown)
            options = () if any("--set=tables" in part for part in command) else at
            run(*command, *options) if "sql" not in command or command[-1] != f"--{name}" else run(*command)
            shown = terminal.shown[before:]
            assert shown, command
            found = CONTROLS.search(shown)
            assert not found, (command, found, shown[max(0, found.start() - 40) : found.start() + 40])


def dead_letters_of(tables: Path) -> list[str]:
    """How they are named on the command line. An argument cannot have a null character."""
    letters = DeadLetters(str(tables)).outlines(None)
    return [letter.record for letter in letters if "\x00" not in letter.record]


@pytest.mark.parametrize("form", [Format.TABLE, Format.CSV])
def test_names_are_shown_as_they_are(form: Format, chance: Random) -> None:
    with a_terminal() as terminal:
        names = [hostile(chance) for _ in range(50)]
        show(["name"], [[name] for name in names], form)
        Lines(["name", "other"], form).print([names[0], [{"a": names[1]}]])
        for name in names:
            plain = visible(name)
            quoted = plain.replace('"', '""') if form is Format.CSV else plain
            assert _unfolded(quoted) in _unfolded(terminal.shown)
        assert not CONTROLS.search(terminal.shown)
        assert "❌" not in terminal.shown


def _unfolded(text: str) -> str:
    """Without the spaces and line breaks of a narrow column."""
    return "".join(text.split())


def test_the_values_of_json_are_exact(chance: Random) -> None:
    with a_terminal() as terminal:
        names = [hostile(chance) for _ in range(50)]
        show(["name"], [[name] for name in names], Format.JSON)
        assert [row["name"] for row in json.loads(terminal.shown)] == names
        assert not CONTROLS.search(terminal.shown)
        before = len(terminal.shown)
        print_line({name: name for name in names})
        assert json.loads(terminal.shown[before:]) == {name: name for name in names}
        assert terminal.shown[before:].count("\n") == 1


def test_programs_get_csv_and_bytes_exactly(chance: Random, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    names = [hostile(chance) for _ in range(50)]
    show([names[0]], [[name] for name in names], Format.CSV)
    sys.stdout.flush()
    rows = [*csv.reader(io.StringIO(capfdbinary.readouterr().out.decode(), newline=""))]
    assert [row[0] if row else "" for row in rows] == [names[0], *names]
    print_bytes(b"\x1b[31m\xff\x00")
    print_exact("\x1b")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"\x1b[31m\xff\x00\x1b\n"


def test_a_terminal_gets_bytes_as_text() -> None:
    with a_terminal() as terminal:
        print_bytes(b"{\n\t\x1b[31m\xff\x00")
        print_exact("\x1b\u202e")
        assert terminal.shown == "{\n\t\\x1b[31m\\xff\\x00\n\\x1b\\u202e\n"


def test_messages_and_bars_have_no_markup(chance: Random) -> None:
    with a_terminal() as terminal:
        for name in (hostile(chance).replace("\n", "").replace("\t", "") for _ in range(50)):
            for console in (out, err):
                before = len(terminal.shown)
                console.print(f"Reading {name}.")
                assert terminal.shown[before:] == f"Reading {visible(name)}.\n"
            with err.status(f"Reading {name}…"), output.progress() as bar:
                bar.add_task(f"Sending to {name}", total=1)
                bar.refresh()
            with Progress(TextColumn("{task.description}"), console=SafeConsole(file=terminal)) as other:
                other.add_task(name.replace("[", ""), total=1)
        assert not CONTROLS.search(terminal.shown)


def test_tail(chance: Random) -> None:
    with a_terminal() as terminal:
        for schema in (None, "envelope 1", "violation 1"):
            for form in Format:
                record = DecodedRecord(
                    *(0, 1, NOW, hostile(chance)),
                    headers={hostile(chance): hostile(chance)},
                    schema=schema,
                    record={name: hostile(chance) for name in ("job_name", "subject", "detail", hostile(chance))},
                    undecoded=hostile(chance),
                )
                assert print_records([record, record], form)
        assert not CONTROLS.search(terminal.shown)


def test_logs_and_tracebacks(chance: Random, tmp_path: Path) -> None:
    with a_terminal() as terminal:
        name = hostile(chance)
        handler = logging.StreamHandler(terminal)
        handler.setFormatter(SafeFormatter("%(message)s"))
        logger = logging.Logger("hostile")
        logger.addHandler(handler)
        with python_log(tmp_path / "job.log") as file:
            try:
                int(name)
            except ValueError as error:
                logger.exception("Failed: %s", name)
                file.exception("Failed: %s", name)
                print_traceback(type(error), error, error.__traceback__)
        assert not CONTROLS.search(terminal.shown)
        assert not CONTROLS.search((tmp_path / "job.log").read_text())


def test_a_real_terminal(tmp_path: Path) -> None:
    """With colours: only rich's own escape codes, and none that a query has."""
    tables = make_tables(
        tmp_path / "tables", {"jobs": [{"namespace": "n", "name": ":x:[bold]\x1b[35;1mred\x9b2J\u202e"}]}
    )
    for form in (Format.TABLE, Format.CSV):
        shown = in_terminal("sql", "SELECT name FROM jobs", "-o", form.value, f"--set=tables={tables}")
        assert ":x:[bold]\\x1b[35;1mred\\x9b2J\\u202e" in shown
        assert not {"\x1b[35;1m", "\x9b", "\u202e"} & {*re.findall("\x1b\\[35;1m|[\x9b\u202e]", shown)}
    assert "\\x1b[35;1m:x:[bold]\\u202e" in in_terminal("keys", "revoke", "a\x1b[35;1m:x:[bold]\u202e")


def in_terminal(*arguments: str) -> str:
    """What a command shows on a pseudo-terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    process = subprocess.Popen(
        [sys.executable, "-m", "lineproof", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    process.wait()
    return b"".join(parts).decode()
