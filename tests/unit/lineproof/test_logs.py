"""The job's log has one line for every failure, and no log grows without bound."""

import logging
import re
from pathlib import Path

import pytest

from lineproof.local import job_runner
from lineproof.local.job_runner import run_job
from lineproof.local.logs import job_log, python_log, rotate_up_log
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings

ENTRY = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (WARNING|ERROR) ")


def fail_with(error: Exception, home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    def fail(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(job_runner, "prepare_topics", fail)
    settings = Settings(home=home)
    with pytest.raises(type(error)):
        run_job(settings, create_topics=False, report=lambda _batch: None)
    return job_log(settings).read_text().splitlines()


def test_a_known_failure_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [line] = fail_with(LineproofError("The disk is full.", "Free space."), tmp_path, monkeypatch)
    assert ENTRY.match(line)
    assert line.endswith("ERROR lineproof: The job failed. The disk is full. Free space.")


def test_a_failure_of_spark_is_explained_before_its_stack_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = LineproofError("The broker does not answer.", "Check that it runs.")
    failure.__cause__ = ValueError("TimeoutException")
    line, *trace = fail_with(failure, tmp_path, monkeypatch)
    assert line.endswith("ERROR lineproof: The job failed. The broker does not answer. Check that it runs.")
    assert trace[-1] == "ValueError: TimeoutException"


def test_an_unexpected_failure_is_one_line_before_its_stack_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, *trace = fail_with(ValueError("no such column"), tmp_path, monkeypatch)
    assert line.endswith("ERROR lineproof: The job failed unexpectedly. ValueError: no such column")
    assert trace[0] == "Traceback (most recent call last):"


def test_warnings_of_lineproof_are_in_the_log_of_the_job(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "job.log"
    with python_log(file):
        logging.getLogger("lineproof.streaming").warning("Maintenance failed")
        file.rename(file.with_suffix(".log.1"))  # as Log4j does when the file is full
        logging.getLogger("lineproof.streaming").warning("Maintenance failed again")
    logging.getLogger("lineproof.streaming").warning("After the job")
    [line] = file.read_text().splitlines()
    assert ENTRY.match(line)
    assert line.endswith("WARNING lineproof.streaming: Maintenance failed again")


def test_the_output_of_a_detached_service_is_rotated_while_it_is_open(tmp_path: Path) -> None:
    log = tmp_path / "up.log"
    rotate_up_log(log)
    with log.open("a") as output:
        for text in ("first\n", "second\n", "third\n"):
            output.write(text)
            output.flush()
            rotate_up_log(log, max_bytes=10)
    assert log.read_text() == "third\n"
    assert log.with_name("up.log.1").read_text() == "first\nsecond\n"
