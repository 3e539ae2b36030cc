"""How long the read API takes over a million runs and a graph of 100,000 edges, warm, through a real server.

Requests are for different runs, jobs and names, one after the other, without caching on the side of the client.

    .venv/bin/python -m lineproof.bench.api [--runs 1000000] [--edges 100000]
"""

import http.client
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from lineproof.bench.figures import Figure, below
from lineproof.bench.read_tables import ReadTables, make_read_tables
from lineproof.bench.server import server
from lineproof.cli.output import show

RUNS, EDGES = 1_000_000, 100_000
REQUESTS = 20
DEPTH = 20
V1 = "/api/lineproof/v1"
WORDS = ("load", "table", "layer_1", "load_00", "table_000", "amount", "email", "warehouse", "7", "19c0")

Get = Callable[[str], Any]


def main(
    runs: Annotated[int, typer.Option(min=1)] = RUNS,
    edges: Annotated[int, typer.Option(min=1)] = EDGES,
) -> None:
    """Measure the read API."""
    show(["benchmark", "measured", "goal"], [(one.benchmark, one.measured, one.goal) for one in api(runs, edges)])


def api(runs: int = RUNS, edges: int = EDGES) -> Iterator[Figure]:
    """Make the tables, and measure."""
    with tempfile.TemporaryDirectory() as directory:
        yield from figures_of(make_read_tables(Path(directory) / "tables", runs, edges))


def figures_of(made: ReadTables) -> Iterator[Figure]:
    """The 50th and the 95th percentile of each kind of request. Both have to be below the limit."""
    with tempfile.TemporaryDirectory() as home, server(Path(home), {"tables": made.path}) as running:
        get = _client(running.url)
        for name, limit_ms, paths in _requests(made, get):
            waits = _measure(get, paths)
            for share in (50, 95):
                wait_ms = waits[len(waits) * share // 100] * 1000
                title = f"api: {name}, p{share}"
                yield below(limit_ms, title, wait_ms, "ms") if limit_ms else Figure(title, wait_ms, "ms")


def _requests(made: ReadTables, get: Get) -> Iterator[tuple[str, float, list[str]]]:
    """Each kind of request with its limit, and the paths to ask for."""
    jobs = [{"namespace": one["namespace"], "name": one["name"]} for one in get(f"/jobs?limit={REQUESTS}")["items"]]
    jobs[0] = {"namespace": made.job[0], "name": made.job[1]}
    runs = [get(f"/runs?{urlencode(job)}&limit=1")["items"][0]["run_id"] for job in jobs]
    namespace, name = made.last_dataset
    layer = [f"{name[:-5]}{number:05}" for number in range(REQUESTS)]
    graphs = [{"namespace": namespace, "name": one, "up": 2 * DEPTH, "down": 0} for one in layer]
    yield f"lineage, {DEPTH} deep", 300, [f"/lineage?kind=dataset&{urlencode(graph)}" for graph in graphs]
    yield "page of a job", 200, [f"/job?{urlencode(job)}" for job in jobs]
    yield "page of a run", 200, [f"/runs/{run_id}" for run_id in [made.run_id, *runs[1:]]]
    yield "search", 150, [f"/search?{urlencode({'q': WORDS[number % len(WORDS)]})}" for number in range(REQUESTS)]
    yield "overview", 0, ["/overview"] * REQUESTS
    yield "list of runs", 0, [f"/runs?limit={100 + number}" for number in range(REQUESTS)]
    yield "page of a dataset", 0, [f"/dataset?{urlencode({'namespace': namespace, 'name': one})}" for one in layer]


def _measure(get: Get, paths: Sequence[str]) -> list[float]:
    """The sorted times of the answers, after one round that warms up."""
    waits = []
    for is_measured in (False, True):
        for path in paths:
            began = time.perf_counter()
            get(path)
            if is_measured:
                waits.append(time.perf_counter() - began)
    return sorted(waits)


def _client(url: str) -> Get:
    host, _, port = url.removeprefix("http://").rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=120)

    def get(path: str) -> Any:
        connection.request("GET", f"{V1}{path}")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}: {body.decode()}")
        return json.loads(body)

    return get


if __name__ == "__main__":
    typer.run(main)
