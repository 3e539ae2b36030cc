"""The analytics service: metrics per company and quarter, each traceable to its source rows."""

from statistics import mean
from typing import Any

from openlineage.client.facet_v2 import sql_job

from lineproof.producers.facets import (
    CdmeAdjointDatasetFacet,
    CdmeGrainSafetyRunFacet,
    CdmeTypeUnificationRunFacet,
    GrainAggregation,
    MetricValueOutputDatasetFacet,
    MorphismStep,
    RoundTripBounds,
    UnifiedAttribute,
)
from lineproof.producers.pipelines import columns
from lineproof.producers.pipelines.data import Row, Rows
from lineproof.producers.pipelines.metrics import (
    METRICS_SQL,
    by_quarter,
    metric_lineage,
    sroi_rows,
    total,
    valued,
    vis_rows,
)
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.pipelines.sample import EPOCH
from lineproof.producers.pipelines.tables import (
    BUDDY_EVENTS,
    BUDDY_SYSTEM_EVENTS,
    DATABASE,
    METRIC_LINEAGE,
    METRICS_COMPANY_PERIOD,
    OUTCOME_SCORES,
    SROI_CALCULATIONS,
    SROI_VALUATION_WEIGHTS,
    VIS_SCORES,
)
from lineproof.producers.run import Run

SROI_STEPS = (MorphismStep("value", "join", "1:1"), MorphismStep("sum_up", "aggregate", "N:1"))
VIS_STEPS = (MorphismStep("group_and_score", "aggregate", "N:1"),)
AGGREGATION_STEPS = (MorphismStep("sum_up", "aggregate", "N:1"), MorphismStep("join", "join", "1:1"))


def sroi_calculation(platform: Platform) -> None:
    """Social return on investment: the social value of each euro invested in the buddy system."""
    inputs = [BUDDY_SYSTEM_EVENTS.as_input(), SROI_VALUATION_WEIGHTS.as_input()]
    with platform.run("sroi-calculation", inputs, SROI_STEPS) as run:
        weights = platform.read(SROI_VALUATION_WEIGHTS)
        events = _valued(platform.read(BUDDY_SYSTEM_EVENTS), weights, run)
        with run.morphism("sum_up") as step:
            rows = sroi_rows(step.over(events))
            step.output_rows = len(rows)
        platform.write(SROI_CALCULATIONS, rows, columns=columns.SROI, **_sroi_facets(rows))
        sources = metric_lineage("sroi", BUDDY_SYSTEM_EVENTS, events)
        platform.write(METRIC_LINEAGE, sources, columns=columns.metric_sources(BUDDY_SYSTEM_EVENTS))

        versions = {SROI_VALUATION_WEIGHTS.name.name: weights[0]["version"]}
        run.lineage.execution(EPOCH, versions, determinism_verified=sroi_rows(events) == rows)
        run.lineage.path("sroi_ratio", "value", "sum_up")
        run.lineage.reverse_join(SROI_CALCULATIONS.name, "sum_up", METRIC_LINEAGE.name.name, ["company_id", "period"])
        lost = abs(total(rows, "social_value") - total(events, "social_value"))
        platform.proof.certify(
            {"no_value_is_lost": lost < 1, "ratios_are_positive": all(row["sroi_ratio"] > 0 for row in rows)},
            materiality_thresholds={"no_value_is_lost": "1 EUR"},
        )


def _valued(events: Rows, weights: Rows, run: Run) -> list[Row]:
    """The events that have a valuation weight, with their value."""
    by_type = {row["event_type"]: row for row in weights}
    valued_events = []
    with run.morphism("value") as step:
        for event in run.ledger.count(step.over(events)):
            if weight := by_type.get(event["event_type"]):
                valued_events.append(valued(event, weight))
            else:
                run.ledger.filter()
            run.progress(100 * step.input_rows / len(events), step.input_rows)
        step.output_rows = len(valued_events)
    return valued_events


def _sroi_facets(rows: Rows) -> dict[str, Any]:
    adjoint = CdmeAdjointDatasetFacet(
        table=METRIC_LINEAGE.name.name,
        location=DATABASE,
        classification="aggregate",
        storageStrategy="reverse join",
        roundTripBounds=RoundTripBounds(lower=-0.005, upper=0.005),  # EUR, by rounding
    )
    value = total(rows, "social_value") / (total(rows, "investment") or 1)
    return {"facets": {adjoint.KEY: adjoint}, "output_facets": _metric("sroi", value, "EUR per EUR")}


def vis_calculation(platform: Platform) -> None:
    """Volunteer impact score: half hours, half outcome scores."""
    with platform.run("vis-calculation", [BUDDY_EVENTS.as_input(), OUTCOME_SCORES.as_input()], VIS_STEPS) as run:
        events, scores = platform.read(BUDDY_EVENTS), platform.read(OUTCOME_SCORES)
        with run.morphism("group_and_score") as step:
            rows = vis_rows(run.ledger.count(step.over(events)), scores)
            step.output_rows = len(rows)
        value = mean(row["vis"] for row in rows) if rows else 0
        platform.write(VIS_SCORES, rows, columns=columns.VIS, output_facets=_metric("vis", value, "points"))
        sources = metric_lineage("vis", BUDDY_EVENTS, events)
        platform.write(METRIC_LINEAGE, sources, columns=columns.metric_sources(BUDDY_EVENTS))

        run.lineage.path("vis", "group_and_score")
        platform.proof.certify({"score_is_in_range": all(0 <= row["vis"] <= 100 for row in rows)})


def aggregation(platform: Platform) -> None:
    """All metrics of each company and quarter in one table."""
    sources = (BUDDY_EVENTS, OUTCOME_SCORES, SROI_CALCULATIONS, VIS_SCORES)
    sql = sql_job.SQLJobFacet(query=METRICS_SQL, dialect="sqlite")
    inputs = [source.as_input() for source in sources]
    with platform.run("aggregation", inputs, AGGREGATION_STEPS, job_facets={"sql": sql}) as run:
        events, *_ = [platform.read(source) for source in sources]
        with run.morphism("sum_up") as step:
            rows = platform.database.query(METRICS_SQL)
            step.input_rows, step.output_rows = len(events), len(rows)
        counted = [event for event in events if event["hours"] > 0]
        run.ledger.book(read=len(events), processed=len(counted), filtered=len(events) - len(counted))
        platform.write(METRICS_COMPANY_PERIOD, rows, columns=columns.METRICS)

        run.lineage.path("volunteer_hours", "sum_up")
        run.lineage.path("sroi_ratio", "join")
        is_safe = abs(total(rows, "volunteer_hours") - total(counted, "hours")) < 0.01
        for facet in (_type_unification(), _grain_safety(is_safe)):
            run.add_facet(facet.KEY, facet)
        platform.proof.certify(
            {"no_hours_are_lost": is_safe, "one_row_per_quarter": len(rows) == len(by_quarter(counted))}
        )


def _type_unification() -> CdmeTypeUnificationRunFacet:
    pairs = [("company_id", SROI_CALCULATIONS), ("period", SROI_CALCULATIONS), ("vis", VIS_SCORES)]
    return CdmeTypeUnificationRunFacet(
        attributes=[
            _unified(name, source.schema[name][0], METRICS_COMPANY_PERIOD.schema[name][0]) for name, source in pairs
        ]
    )


def _unified(attribute: str, left: str, right: str) -> UnifiedAttribute:
    if left == right or {left, right} == {"integer", "double precision"}:
        return UnifiedAttribute(attribute, left, right, "UNIFIED", left if left == right else "double precision")
    return UnifiedAttribute(attribute, left, right, "INCOMPATIBLE")


def _grain_safety(is_safe: bool) -> CdmeGrainSafetyRunFacet:
    return CdmeGrainSafetyRunFacet(
        fromGrain=BUDDY_EVENTS.grain,
        toGrain=METRICS_COMPANY_PERIOD.grain,
        safe=is_safe,
        aggregations=[
            GrainAggregation("volunteer_hours", "sum"),
            GrainAggregation("participants", "count distinct"),
            GrainAggregation("mean_score", "mean"),
        ],
        reason=None if is_safe else "The sum of the hours has changed.",
    )


def _metric(name: str, value: float, unit: str) -> dict[str, Any]:
    facet = MetricValueOutputDatasetFacet(metric=name, value=round(value, 4), unit=unit, period=EPOCH)
    return {facet.KEY: facet}
