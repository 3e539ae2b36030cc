"""The process that runs SQL of others: one request a line on stdin, one answer a line on stdout.

A function such as repeat() takes memory that DuckDB does not count and cannot be interrupted, and a parser can run out
of stack. So the system bounds this process, and it may die: see `SqlProcesses`.
"""

import json
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from lineproof.schemas.errors import LineproofError
from lineproof.serving.open_tables import OpenTables
from lineproof.serving.sandbox.answer import MAX_ROWS, answer, error_document

MEMORY_BYTES = 3 * 2**30
"""What a worker may have besides what it has at its start. DuckDB spills at a third of it."""
GROWTH = "growth"
"""Member of an answer: by how many bytes the process has grown since its start."""
GRACE_S = 2.0
"""How much longer than the query may take the process lives, to say so."""


def main() -> None:
    """Answer until stdin ends. Arguments: the tables, a directory for what does not fit into memory, the time limit."""
    location, spill, timeout_s = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # stdout has nothing but answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    tables = OpenTables(location, spill, timeout_s=timeout_s)
    parser = duckdb.connect(config={"autoload_known_extensions": "false", "memory_limit": "200MB", "threads": "1"})
    parser.execute("SET enable_external_access = false")
    size = _address_space()
    _limit_memory(size)
    _send(answers, {"ready": True})
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, timeout_s + 2 * GRACE_S)  # also if the process that asked is gone
        answered = _answered(tables, parser, json.loads(line))
        if "error" in answered:  # messages of DuckDB name files
            answered["what"] = answered["what"].replace(location, "TABLES").replace(str(spill), "SPILL")
        _send(answers, {**answered, GROWTH: _address_space() - size})
        signal.setitimer(signal.ITIMER_REAL, 0)


def _answered(tables: OpenTables, parser: duckdb.DuckDBPyConnection, request: dict[str, Any]) -> dict[str, Any]:
    try:
        limit = min(max(int(request["limit"]), 1), MAX_ROWS)
        return answer(tables.as_of(request["as_of"]), parser, request["sql"], limit)
    except LineproofError as error:
        return error_document(error)
    except MemoryError:
        os._exit(1)  # nothing here can be relied on any more


def _send(answers: BinaryIO, document: dict[str, Any]) -> None:
    answers.write(json.dumps(document).encode() + b"\n")
    answers.flush()


def _address_space() -> int:
    """In bytes. Only Linux says so; elsewhere 0."""
    with suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0


def _limit_memory(size: int) -> None:
    """Only Linux keeps to the limit."""
    with suppress(OSError, ValueError):
        if size:
            resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY_BYTES, size + MEMORY_BYTES))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
