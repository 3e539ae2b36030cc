"""The views of the page over the tables of the demo."""

import json
from functools import cache
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

VIEWS = (
    *(
        "overview",
        "lineage",
        "runs",
        "run",
        "run-facets",
        "run-events",
        "jobs",
        "job",
        "datasets",
        "dataset",
        "dataset-schema",
    ),
    *("dataset-tests", "dataset-facets", "late", "quality", "ledgers", "chains", "gaps", "violations", "dead-letters"),
    *("defects", "time", "search", "as-of", "missing"),
)


def answer(url: str, path: str, **query: Any) -> Any:
    """What the API says."""
    with urlopen(f"{url}/api/lineproof/v1{path}?{urlencode(query)}") as response:
        return json.load(response)


def address(url: str, view: str) -> str:
    """Where the view is. It is about something that the tables have."""
    return _addresses(url)[view]


@cache
def _addresses(url: str) -> dict[str, str]:
    [run] = answer(url, "/runs", verdict="unbalanced", limit=1)["items"]
    [certified] = answer(url, "/runs", q="sroi-calculation", trust="proven", limit=1)["items"]
    [dataset] = answer(url, "/datasets", q="sroi_calculations", limit=1)["items"]
    job, of_dataset = (urlencode({name: one[name] for name in ("namespace", "name")}) for one in (run["job"], dataset))
    ended_at = run["ended_at"]
    return {
        "overview": "/",
        "lineage": f"/lineage?kind=dataset&{of_dataset}&up=2&down=1",
        "runs": "/runs",
        "run": f"/run?run_id={run['run_id']}",
        "run-facets": f"/run?run_id={certified['run_id']}&tab=facets",
        "run-events": f"/run?run_id={certified['run_id']}&tab=events",
        "jobs": "/jobs",
        "job": f"/job?{job}",
        "datasets": "/datasets",
        "dataset": f"/dataset?{of_dataset}",
        "dataset-schema": f"/dataset?{of_dataset}&tab=schema",
        "dataset-tests": f"/dataset?{of_dataset}&tab=tests",
        "dataset-facets": f"/dataset?{of_dataset}&tab=facets",
        "late": "/datasets?freshness=unknown",
        "quality": "/quality",
        "ledgers": "/proof",
        "chains": "/proof?tab=certificates",
        "gaps": "/proof?tab=gaps",
        "violations": "/violations?stands=all",
        "dead-letters": "/dead-letters",
        "defects": "/defects",
        "time": f"/time?at={ended_at}",
        "search": "/search?q=sroi",
        "as-of": "/runs?as_of=2999-01-01T00:00:00Z",
        "missing": "/nowhere",
    }
