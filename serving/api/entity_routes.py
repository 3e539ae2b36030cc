"""Routes of jobs and datasets."""

from fastapi import APIRouter, Response

from lineproof.serving.answers.datasets import Dataset, DatasetSummary, dataset, datasets
from lineproof.serving.answers.jobs import Job, JobSummary, job, jobs
from lineproof.serving.answers.model import Page as PageOf
from lineproof.serving.answers.quality import QualityResult, TestedDataset, quality, quality_summary
from lineproof.serving.answers.schemas import SchemaVersion, schemas
from lineproof.serving.api.parameters import OptionalText, Page, Text
from lineproof.serving.api.reading import Read

router = APIRouter(tags=["jobs and datasets"])


@router.get("/jobs", response_model=PageOf[JobSummary], summary="Jobs by name")
async def list_jobs(read: Read, paging: Page, q: OptionalText = None, namespace: OptionalText = None) -> Response:
    """`q` is a part of the name or the namespace."""
    return await read(lambda tables: jobs(tables, q, namespace, paging))


@router.get("/job", response_model=Job, summary="A job with its latest runs")
async def get_job(read: Read, namespace: Text, name: Text) -> Response:
    """Also a job of which no event but those of its runs has arrived yet."""
    return await read(lambda tables: job(tables, namespace, name), f"job {name[:100]} in {namespace[:100]}")


@router.get("/datasets", response_model=PageOf[DatasetSummary], summary="Datasets by name")
async def list_datasets(
    read: Read, paging: Page, q: OptionalText = None, tag: OptionalText = None, namespace: OptionalText = None
) -> Response:
    """`q` is a part of the name or the namespace, `tag` a key or KEY=VALUE."""
    return await read(lambda tables: datasets(tables, q, tag, namespace, paging))


@router.get("/dataset", response_model=Dataset, summary="A dataset with its loads, tests and schemas")
async def get_dataset(read: Read, namespace: Text, name: Text) -> Response:
    """By any of its names."""
    missing = f"dataset {name[:100]} in {namespace[:100]}"
    return await read(lambda tables: dataset(tables, namespace, name, read.installation), missing)


@router.get("/schemas", response_model=PageOf[SchemaVersion], summary="The schemas of a dataset, oldest first")
async def list_schemas(read: Read, paging: Page, namespace: Text, name: Text) -> Response:
    """Each with what is different from the one before."""
    return await read(lambda tables: schemas(tables, namespace, name, paging))


@router.get("/quality", response_model=PageOf[QualityResult], summary="Results of tests, the newest first")
async def list_quality(
    read: Read,
    paging: Page,
    namespace: OptionalText = None,
    name: OptionalText = None,
    success: bool | None = None,
) -> Response:
    """Of all datasets, or of one."""
    return await read(lambda tables: quality(tables, namespace, name, success, paging))


@router.get("/quality/summary", response_model=PageOf[TestedDataset], summary="Tested datasets, failures first")
async def get_summary(read: Read, paging: Page) -> Response:
    """By the latest result of each test."""
    return await read(lambda tables: quality_summary(tables, paging))
