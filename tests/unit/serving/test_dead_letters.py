"""Dead letters: list, show and send again."""

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from typer.testing import CliRunner

from lineproof.cli.dead_letters import _text
from lineproof.cli.main import app
from lineproof.schemas.headers import REDRIVEN_FROM
from lineproof.schemas.record import Record
from lineproof.serving.dead_letters import DeadLetterNotFound, DeadLetters, UnknownReason
from lineproof.topics.redrive import redriven_record
from tests.arrow import BYTES, COORDINATES

SOURCE = [{"key": "source", "value": b"\xff"}, {"key": "none", "value": None}]


def record(offset: int, **columns: Any) -> dict[str, Any]:
    time = datetime(2026, 1, 31, 12, offset, tzinfo=timezone.utc)
    return {"topic": "events", "partition": 0, "offset": offset, "timestamp": time, **columns}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Records 1 to 3 are dead letters. Record 4 replaces 2 and is usable; record 5 replaces 3 and is not."""
    letters = [
        record(1, reason="empty_value", key=None, headers=None, value=None),
        record(2, reason="invalid_json", key=b"key", headers=SOURCE, value=b'{"a": ' + b"\xe9" * 100),
        record(3, reason="invalid_json", key=b"key", headers=None, value=b"[bold]{"),
    ]
    outcomes = [
        record(4, reason=None, event_id="e", redrives="events/0/2"),
        record(5, reason="not_an_event", event_id="f", redrives="events/0/3"),
    ]
    texts = [(name, pa.string()) for name in ("reason", "event_id", "redrives")]
    tables: dict[str, tuple[list[dict[str, Any]], list[Any]]] = {
        "dead_letters": (letters, [*COORDINATES, ("reason", pa.string()), *BYTES]),
        "archive": ([], [*COORDINATES, *BYTES]),
        "records": (outcomes, [*COORDINATES, *texts]),
    }
    for name, (rows, schema) in tables.items():
        write_deltalake(tmp_path / "tables" / name, pa.Table.from_pylist(rows, pa.schema(schema)))
    return tmp_path


def invoke(root: Path, *arguments: str) -> Any:
    return CliRunner().invoke(app, ["dead-letters", *arguments, "--set", f"tables={root}/tables"])


def test_each_shows_what_became_of_it(root: Path) -> None:
    letters = DeadLetters(f"{root}/tables")
    assert [(letter.record, letter.size, letter.outcome) for letter in letters.outlines()] == [
        ("events/0/3", 7, "dead again: not_an_event"),
        ("events/0/2", 106, "resolved"),
        ("events/0/1", None, ""),
    ]
    assert [letter.record for letter in letters.outlines("empty_value")] == ["events/0/1"]
    assert len(letters.outlines()[1].beginning or b"") < 106


def test_the_redriven_record_keeps_key_headers_and_bytes(root: Path) -> None:
    [letter] = DeadLetters(f"{root}/tables").named(["events/0/2"])
    headers = [("source", b"\xff"), ("none", None), (REDRIVEN_FROM, b"events/0/2")]
    assert redriven_record(letter) == Record(b"key", letter.value, headers)
    assert redriven_record(letter, patch=b"{}") == Record(b"key", b"{}", headers)


def test_a_record_that_died_twice_names_its_second_dead_letter(root: Path) -> None:
    """The header of the first time is replaced; the archive still has it."""
    write_deltalake(
        root / "tables" / "dead_letters",
        pa.Table.from_pylist(
            [
                record(
                    5, reason="not_an_event", key=b"key", headers=[{"key": REDRIVEN_FROM, "value": b"x"}], value=b"{}"
                ),
            ],
            pa.schema([*COORDINATES, ("reason", pa.string()), *BYTES]),
        ),
        mode="append",
    )
    [letter] = DeadLetters(f"{root}/tables").named(["events/0/5"])
    assert redriven_record(letter) == Record(b"key", b"{}", [(REDRIVEN_FROM, b"events/0/5")])


def test_unknown_records_and_reasons_are_errors(root: Path) -> None:
    letters = DeadLetters(f"{root}/tables")
    with pytest.raises(DeadLetterNotFound, match="events/0/9 is not a dead letter"):
        letters.named(["events/0/1", "events/0/9"])
    with pytest.raises(UnknownReason, match="Did you mean invalid_json"):
        letters.outlines("invalid-json")


def test_list(root: Path) -> None:
    listed = invoke(root, "list", "-o", "csv")
    assert listed.exit_code == 0
    assert "events/0/1" in listed.output
    assert "events/0/2" not in listed.output
    assert "2 of 2 dead letters; 1 more were resolved by a redrive." in listed.output
    assert "events/0/2" in invoke(root, "list", "--all", "-o", "csv").output
    assert "1 of 2 dead letters" in invoke(root, "list", "--limit", "1").output


def test_show(root: Path) -> None:
    shown = invoke(root, "show", "events/0/3").output
    assert "[bold]{" in shown, "printed as it is"
    assert "Correct the producer's serialiser." in shown
    assert "dead again: not_an_event" in shown
    assert (_text("{\n\té}".encode()), _text(b"{\n\xff}")) == ("{\n\té}", repr(b"{\n\xff}"))
    assert "(none)" in invoke(root, "show", "events/0/1").output
    assert "\\xe9" in invoke(root, "show", "events/0/2").output
    assert invoke(root, "show", "events/0/2", "--raw").stdout_bytes == b'{"a": ' + b"\xe9" * 100


def test_redrive_skips_letters_that_were_sent_again(root: Path) -> None:
    output = invoke(root, "redrive", "--reason", "invalid_json", "--dry-run").output
    assert "2 were sent again before" in output
    assert "0 would be sent" in output
    assert "2 would be sent" in invoke(root, "redrive", "--reason", "invalid_json", "--again", "--dry-run").output
    assert "1 would be sent" in invoke(root, "redrive", "events/0/1", "--dry-run").output


@pytest.mark.parametrize(
    "arguments", [[], ["events/0/1", "--reason", "empty_value"], ["events/0/1", "events/0/2", "--patch", __file__]]
)
def test_redrive_needs_records_or_a_reason(root: Path, arguments: list[str]) -> None:
    assert invoke(root, "redrive", *arguments, "--dry-run").exit_code == 2
