"""The tables of the platform."""

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.pipelines.data import Dataset

DATABASE = "teei.postgres.public"

_ID, _COMPANY, _PERIOD = ("text", "identifier"), ("text", "company"), ("text", "quarter, such as 2026-Q1")
_PARTICIPANT = ("text", "pseudonym of the participant")
_NUMBER = "double precision"


def _table(name: str, owner: str, grain: str, keys: tuple[str, ...], **columns: tuple[str, str]) -> Dataset:
    return Dataset(DatasetName(DATABASE, name), columns, grain, keys, owner)


BUDDY_EVENTS = _table(
    *("buddy_events", "team-integrations", "an activity of a volunteer", ("event_id",)),
    event_id=_ID,
    source=("text", "system that the event came from"),
    company_id=_COMPANY,
    participant_id=_PARTICIPANT,
    activity=("text", "what was done"),
    hours=(_NUMBER, "time given"),
    event_date=("date", "day of the activity"),
)
BUDDY_SYSTEM_EVENTS = _table(
    *("buddy_system_events", "team-integrations", "an event of the buddy system", ("event_id",)),
    event_id=_ID,
    company_id=_COMPANY,
    participant_id=_PARTICIPANT,
    event_type=("text", "kind of event, as valued in sroi_valuation_weights"),
    hours=(_NUMBER, "duration"),
    event_date=("date", "day of the event"),
)
BUDDY_FEEDBACK = _table(
    *("buddy_feedback", "team-insights", "an answer to a survey", ("feedback_id",)),
    feedback_id=_ID,
    company_id=_COMPANY,
    participant_id=_PARTICIPANT,
    feedback_text=("text", "the answer, without addresses"),
    sentiment=(_NUMBER, "from -1 (bad) to 1 (good), by the participant's own rating"),
    submitted_on=("date", "day of the answer"),
)
OUTCOME_SCORES = _table(
    *("outcome_scores", "team-insights", "a score of one answer", ("feedback_id", "dimension")),
    feedback_id=_ID,
    company_id=_COMPANY,
    period=_PERIOD,
    dimension=("text", "what the answer is about"),
    score=(_NUMBER, "from 0 (no progress) to 1"),
    sentiment=(_NUMBER, "as in buddy_feedback"),
)
EVIDENCE_SNIPPETS = _table(
    *("evidence_snippets", "team-insights", "a quotation from one answer", ("snippet_id",)),
    snippet_id=_ID,
    feedback_id=_ID,
    company_id=_COMPANY,
    period=_PERIOD,
    dimension=("text", "what the quotation shows"),
    snippet_text=("text", "the quotation"),
    confidence_score=(_NUMBER, "from 0 to 1: the model's confidence, lower where the rating disagrees"),
)
SROI_VALUATION_WEIGHTS = _table(
    *("sroi_valuation_weights", "team-analytics", "a kind of event", ("event_type",)),
    event_type=("text", "kind of event"),
    value_per_hour=(_NUMBER, "social value in EUR"),
    cost_per_hour=(_NUMBER, "cost in EUR"),
    deadweight=(_NUMBER, "share that would have happened anyway"),
    version=("text", "edition of the weights"),
)
SROI_CALCULATIONS = _table(
    *("sroi_calculations", "team-analytics", "a company's quarter", ("company_id", "period")),
    company_id=_COMPANY,
    period=_PERIOD,
    social_value=(_NUMBER, "in EUR"),
    investment=(_NUMBER, "in EUR"),
    sroi_ratio=(_NUMBER, "social value for each euro invested"),
)
VIS_SCORES = _table(
    *("vis_scores", "team-analytics", "a company's quarter", ("company_id", "period")),
    company_id=_COMPANY,
    period=_PERIOD,
    hours_per_participant=(_NUMBER, "mean"),
    mean_score=(_NUMBER, "mean outcome score of the quarter"),
    vis=("integer", "volunteer impact score, 0 to 100"),
)
METRIC_LINEAGE = _table(
    *("metric_lineage", "team-analytics", "a source of a metric's value", ("metric", "company_id", "period", "source")),
    metric=("text", "name of the metric"),
    company_id=_COMPANY,
    period=_PERIOD,
    source=("text", "table that the value was made of"),
    source_rows=("integer", "how many of its rows"),
    source_checksum=("text", "SHA-256 of their keys"),
)
METRICS_COMPANY_PERIOD = _table(
    *("metrics_company_period", "team-analytics", "a company's quarter", ("company_id", "period")),
    company_id=_COMPANY,
    period=_PERIOD,
    volunteer_hours=(_NUMBER, "sum"),
    participants=("integer", "number of different volunteers"),
    mean_score=(_NUMBER, "mean outcome score"),
    sroi_ratio=(_NUMBER, "as in sroi_calculations"),
    vis=(_NUMBER, "as in vis_scores"),
)
REPORT_LINEAGE = _table(
    *("report_lineage", "team-reporting", "a source of a report", ("report_id", "source", "source_key")),
    report_id=("text", "company and quarter"),
    source=("text", "table that the report quotes"),
    source_key=("text", "row of that table"),
)
REPORT_DELIVERIES = _table(
    *("report_deliveries", "team-reporting", "a report that was due", ("report_id",)),
    report_id=("text", "company and quarter"),
    company_id=_COMPANY,
    checksum=("text", "SHA-256 of the PDF"),
)

TABLES = (
    *(BUDDY_EVENTS, BUDDY_SYSTEM_EVENTS, BUDDY_FEEDBACK, OUTCOME_SCORES, EVIDENCE_SNIPPETS, SROI_VALUATION_WEIGHTS),
    *(SROI_CALCULATIONS, VIS_SCORES, METRIC_LINEAGE, METRICS_COMPANY_PERIOD, REPORT_LINEAGE, REPORT_DELIVERIES),
)
