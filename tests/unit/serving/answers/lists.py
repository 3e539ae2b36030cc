"""All answers that are lists, to test what holds for every list."""

from collections.abc import Callable
from typing import Any

from lineproof.serving.answers.certificates import certificates, chains
from lineproof.serving.answers.datasets import datasets
from lineproof.serving.answers.dead_letters import dead_letters
from lineproof.serving.answers.defects import defects
from lineproof.serving.answers.impact import impact
from lineproof.serving.answers.jobs import jobs
from lineproof.serving.answers.ledgers import ledgers
from lineproof.serving.answers.model import Page
from lineproof.serving.answers.paging import Paging
from lineproof.serving.answers.quality import quality, quality_summary
from lineproof.serving.answers.run_facets import run_events
from lineproof.serving.answers.runs import RunFilter, runs
from lineproof.serving.answers.schemas import schemas
from lineproof.serving.answers.violations import violations
from lineproof.serving.open_tables import TableSet
from tests.streaming.story import CLEAN, WORLD

List = Callable[[TableSet, Paging], Page[Any]]

LISTS: dict[str, List] = {
    "runs": lambda tables, paging: runs(tables, RunFilter(), paging),
    "runs of a job": lambda tables, paging: runs(tables, RunFilter("faults", "job"), paging),
    "runs by trust": lambda tables, paging: runs(tables, RunFilter(trust="unknown"), paging),
    "jobs": lambda tables, paging: jobs(tables, None, None, paging),
    "datasets": lambda tables, paging: datasets(tables, None, None, None, paging),
    "violations": lambda tables, paging: violations(tables, None, "all", paging),
    "ledgers": lambda tables, paging: ledgers(tables, None, None, None, paging),
    "certificates": lambda tables, paging: certificates(tables, None, None, paging),
    "chains": chains,
    "dead letters": lambda tables, paging: dead_letters(tables, None, None, paging),
    "defects": defects,
    "quality": lambda tables, paging: quality(tables, None, None, None, paging),
    "quality summary": quality_summary,
    "schemas": lambda tables, paging: schemas(tables, WORLD, "report", paging),
    "impact": lambda tables, paging: impact(tables, WORLD, "orders", None, paging),
    "events": lambda tables, paging: run_events(tables, CLEAN, paging) or Page(items=[], sql="SELECT 1"),
}
