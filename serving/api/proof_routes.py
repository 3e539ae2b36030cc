"""Routes of evidence: ledgers, certificates, gaps, dead letters, defects; and impact."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from lineproof.schemas.reasons import Reason
from lineproof.serving.answers.certificates import CertificateCheck, Chain, certificates, chains
from lineproof.serving.answers.dead_letters import DeadLetter, ReasonCount, dead_letter_reasons, dead_letters
from lineproof.serving.answers.defects import ProducerDefect, defects
from lineproof.serving.answers.gaps import Gaps, gaps
from lineproof.serving.answers.impact import Affected, impact
from lineproof.serving.answers.ledgers import LedgerCheck, ledgers
from lineproof.serving.answers.model import Page as PageOf
from lineproof.serving.answers.time_travel import TimeDifference, difference
from lineproof.serving.api.parameters import OptionalText, Page, Text
from lineproof.serving.api.reading import Read

router = APIRouter(tags=["proof"])

LedgerVerdict = Literal["balanced", "unbalanced", "misdeclared", "incomplete"]
CertificateVerdict = Literal["genuine", "altered", "unknown algorithm", "gap", "fork", "reordered"]


@router.get("/ledgers", response_model=PageOf[LedgerCheck], summary="Ledgers of runs, the newest first")
async def list_ledgers(
    read: Read,
    paging: Page,
    verdict: LedgerVerdict | None = None,
    namespace: OptionalText = None,
    name: OptionalText = None,
) -> Response:
    """What each declares, and the result of adding it up."""
    return await read(lambda tables: ledgers(tables, verdict, namespace, name, paging))


@router.get("/certificates", response_model=PageOf[CertificateCheck], summary="Certificates in the order of issue")
async def list_certificates(
    read: Read, paging: Page, verdict: CertificateVerdict | None = None, run_id: OptionalText = None
) -> Response:
    """Each with the verdict on its hash and its link."""
    return await read(lambda tables: certificates(tables, verdict, run_id, paging))


@router.get("/certificates/chains", response_model=PageOf[Chain], summary="Chains of certificates, broken ones first")
async def list_chains(read: Read, paging: Page) -> Response:
    """Ordered by their links, not by their times."""
    return await read(lambda tables: chains(tables, paging))


@router.get("/gaps", response_model=Gaps, summary="Records and events that never arrived")
async def get_gaps(read: Read) -> Response:
    """Holes in the archive, and in the numbers of emitters."""
    return await read(gaps)


@router.get("/dead-letters", response_model=PageOf[DeadLetter], summary="Records that cannot be used, newest first")
async def list_dead_letters(
    read: Read,
    paging: Page,
    reason: Annotated[str | None, Query(max_length=100, examples=[reason.value for reason in Reason][:3])] = None,
    topic: OptionalText = None,
) -> Response:
    """With the reason, the remedy, and the command that sends them again."""
    return await read(lambda tables: dead_letters(tables, reason, topic, paging))


@router.get("/dead-letters/reasons", response_model=PageOf[ReasonCount], summary="How many dead letters per reason")
async def list_reasons(read: Read) -> Response:
    """The most frequent first."""
    return await read(dead_letter_reasons)


@router.get("/defects", response_model=PageOf[ProducerDefect], summary="Defects of events, by producer")
async def list_defects(read: Read, paging: Page) -> Response:
    """With an example to send to the maintainers of the producer."""
    return await read(lambda tables: defects(tables, paging))


@router.get("/impact", response_model=PageOf[Affected], summary="What is downstream, nearest first, with owners")
async def list_impact(read: Read, paging: Page, namespace: Text, name: Text, field: OptionalText = None) -> Response:
    """Of a dataset, or with `field` of one of its columns."""
    return await read(lambda tables: impact(tables, namespace, name, field, paging))


@router.get("/time", response_model=TimeDifference, summary="What was known at a time, against now")
async def get_time(read: Read, at: Annotated[str, Query(max_length=100)]) -> Response:
    """Runs, jobs, datasets, edges and schemas that were added, removed or changed since."""
    return await read(lambda now: difference(read.tables_at(at), now))
