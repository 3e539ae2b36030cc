"""Column lineage of the outputs: the source columns of each column."""

from lineproof.producers.datasets import ColumnLineage
from lineproof.producers.pipelines.data import PSEUDONYM, Dataset
from lineproof.producers.pipelines.llm import EXTRACTOR, SCORER
from lineproof.producers.pipelines.tables import (
    BUDDY_EVENTS,
    BUDDY_FEEDBACK,
    BUDDY_SYSTEM_EVENTS,
    EVIDENCE_SNIPPETS,
    METRICS_COMPANY_PERIOD,
    OUTCOME_SCORES,
    SROI_CALCULATIONS,
    SROI_VALUATION_WEIGHTS,
    VIS_SCORES,
)

_HOURS, _WEIGHTS = BUDDY_SYSTEM_EVENTS.column("hours", "sum of hours times weight"), SROI_VALUATION_WEIGHTS

SCORES: ColumnLineage = {
    **BUDDY_FEEDBACK.unchanged("feedback_id", "company_id", "sentiment"),
    "period": [BUDDY_FEEDBACK.column("submitted_on", "quarter")],
    "dimension": [BUDDY_FEEDBACK.column("feedback_text", "by the model"), SCORER.dataset.column("completion")],
    "score": [BUDDY_FEEDBACK.column("feedback_text", "by the model"), SCORER.dataset.column("completion")],
}
EVIDENCE: ColumnLineage = {
    **BUDDY_FEEDBACK.unchanged("feedback_id", "company_id"),
    "snippet_id": [BUDDY_FEEDBACK.column("feedback_id", "with a prefix")],
    "period": [BUDDY_FEEDBACK.column("submitted_on", "quarter")],
    "dimension": [BUDDY_FEEDBACK.column("feedback_text", "by the model"), EXTRACTOR.dataset.column("completion")],
    "snippet_text": [
        BUDDY_FEEDBACK.column("feedback_text", "quoted by the model"),
        EXTRACTOR.dataset.column("completion"),
    ],
    "confidence_score": [
        BUDDY_FEEDBACK.column("sentiment", "lower where it is weak"),
        EXTRACTOR.dataset.column("completion"),
    ],
}
SROI: ColumnLineage = {
    **BUDDY_SYSTEM_EVENTS.unchanged("company_id"),
    "period": [BUDDY_SYSTEM_EVENTS.column("event_date", "quarter")],
    "social_value": [_HOURS, _WEIGHTS.column("value_per_hour"), _WEIGHTS.column("deadweight")],
    "investment": [_HOURS, _WEIGHTS.column("cost_per_hour")],
    "sroi_ratio": [_HOURS, *map(_WEIGHTS.column, ("value_per_hour", "deadweight", "cost_per_hour"))],
}
VIS: ColumnLineage = {
    **BUDDY_EVENTS.unchanged("company_id"),
    "period": [BUDDY_EVENTS.column("event_date", "quarter")],
    "hours_per_participant": [BUDDY_EVENTS.column("hours", "sum"), BUDDY_EVENTS.column("participant_id", "count")],
    "mean_score": [OUTCOME_SCORES.column("score", "mean")],
    "vis": [BUDDY_EVENTS.column("hours", "sum"), OUTCOME_SCORES.column("score", "mean")],
}
METRICS: ColumnLineage = {
    **BUDDY_EVENTS.unchanged("company_id"),
    "period": [BUDDY_EVENTS.column("event_date", "quarter")],
    "volunteer_hours": [BUDDY_EVENTS.column("hours", "sum")],
    "participants": [BUDDY_EVENTS.column("participant_id", "count distinct")],
    "mean_score": [OUTCOME_SCORES.column("score", "mean")],
    **SROI_CALCULATIONS.unchanged("sroi_ratio"),
    **VIS_SCORES.unchanged("vis"),
}
REPORTS: ColumnLineage = {
    "report_id": [METRICS_COMPANY_PERIOD.column("company_id"), METRICS_COMPANY_PERIOD.column("period")],
    **METRICS_COMPANY_PERIOD.unchanged("company_id", "period"),
    "figures": [
        *map(METRICS_COMPANY_PERIOD.column, ("volunteer_hours", "participants", "mean_score", "vis")),
        *map(SROI_CALCULATIONS.column, ("social_value", "investment", "sroi_ratio")),
    ],
    "evidence": [*map(EVIDENCE_SNIPPETS.column, ("snippet_text", "confidence_score"))],
}
REPORT_SOURCES: ColumnLineage = {
    "report_id": REPORTS["report_id"],
    "source_key": [*REPORTS["report_id"], EVIDENCE_SNIPPETS.column("snippet_id")],
}


def feedback(inbox: Dataset) -> ColumnLineage:
    """Column lineage of `buddy_feedback`."""
    return {
        "feedback_id": [inbox.column("id")],
        "company_id": [inbox.column("company")],
        "participant_id": [inbox.column("email", PSEUDONYM)],
        "feedback_text": [inbox.column("text", "addresses masked")],
        "sentiment": [inbox.column("rating", "from 1 to 5 onto -1 to 1")],
        "submitted_on": [inbox.column("submitted")],
    }


def metric_sources(events: Dataset) -> ColumnLineage:
    """Column lineage of `metric_lineage`."""
    return {
        **events.unchanged("company_id"),
        "period": [events.column("event_date", "quarter")],
        "source_rows": [events.column("event_id", "count")],
        "source_checksum": [events.column("event_id", "SHA-256 of all")],
    }


def pdf_reports(reports: Dataset) -> ColumnLineage:
    """Column lineage of the PDF files."""
    return {**reports.unchanged("report_id"), "document": [*map(reports.column, ("figures", "evidence"))]}


def deliveries(pdf_files: Dataset) -> ColumnLineage:
    """Column lineage of `report_deliveries`."""
    return {
        **METRICS_COMPANY_PERIOD.unchanged("company_id"),
        **pdf_files.unchanged("report_id"),
        "checksum": [pdf_files.column("document", "SHA-256")],
    }
