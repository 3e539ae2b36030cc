"""Computes the metrics, on plain rows and in SQL."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import mean
from typing import Any

from lineproof.producers.pipelines.data import Dataset, Row, Rows, checksum
from lineproof.producers.pipelines.sample import quarter

HOURS_WANTED = 8
"""Hours per quarter for the full score of a volunteer."""

Quarter = tuple[str, str]
"""A company and a period."""

METRICS_SQL = """\
WITH volunteered AS (
  SELECT company_id,
         substr(event_date, 1, 4) || '-Q' || ((CAST(substr(event_date, 6, 2) AS integer) + 2) / 3) AS period,
         round(sum(hours), 4) AS volunteer_hours, count(DISTINCT participant_id) AS participants
  FROM buddy_events WHERE hours > 0 GROUP BY 1, 2
), outcomes AS (
  SELECT company_id, period, round(avg(score), 4) AS mean_score FROM outcome_scores GROUP BY 1, 2
)
SELECT company_id, period, volunteer_hours, participants, outcomes.mean_score, sroi_ratio,
       CAST(vis AS double precision) AS vis
FROM volunteered
LEFT JOIN outcomes USING (company_id, period)
LEFT JOIN sroi_calculations USING (company_id, period)
LEFT JOIN vis_scores USING (company_id, period)
ORDER BY 1, 2"""
"""All metrics of each company and quarter."""


def valued(event: Row, weight: Row) -> Row:
    """An event with its social value and its cost, in EUR."""
    gained = event["hours"] * weight["value_per_hour"] * (1 - weight["deadweight"])
    return {**event, "social_value": gained, "cost": event["hours"] * weight["cost_per_hour"]}


def sroi_rows(valued_events: Iterable[Row]) -> list[dict[str, Any]]:
    """Social return on investment of each company and quarter."""
    return [_sroi_row(key, events) for key, events in by_quarter(valued_events).items()]


def _sroi_row(quarter_key: Quarter, events: Rows) -> dict[str, Any]:
    value, investment = total(events, "social_value"), total(events, "cost")
    return {
        "company_id": quarter_key[0],
        "period": quarter_key[1],
        "social_value": round(value, 2),
        "investment": round(investment, 2),
        "sroi_ratio": round(value / investment, 4),
    }


def vis_rows(events: Iterable[Row], scores: Rows) -> list[dict[str, Any]]:
    """Volunteer impact score of each company and quarter: half hours, half outcome scores."""
    outcomes: Mapping[Quarter, list[float]] = defaultdict(list)
    for row in scores:
        outcomes[row["company_id"], row["period"]].append(row["score"])
    return [_vis_row(key, rows, mean(outcomes[key] or [0.0])) for key, rows in by_quarter(events).items()]


def _vis_row(quarter_key: Quarter, events: Rows, mean_score: float) -> dict[str, Any]:
    hours = total(events, "hours") / len({event["participant_id"] for event in events})
    return {
        "company_id": quarter_key[0],
        "period": quarter_key[1],
        "hours_per_participant": round(hours, 4),
        "mean_score": round(mean_score, 4),
        "vis": round(50 * min(1.0, hours / HOURS_WANTED) + 50 * mean_score),
    }


def metric_lineage(metric: str, source: Dataset, used: Iterable[Row]) -> list[dict[str, Any]]:
    """The source rows of each metric value: their number and checksum."""
    return [
        {
            "metric": metric,
            "company_id": company,
            "period": period,
            "source": source.name.name,
            "source_rows": len(rows),
            "source_checksum": checksum([row[key] for row in rows for key in source.keys]),
        }
        for (company, period), rows in by_quarter(used).items()
    ]


def by_quarter(events: Iterable[Row]) -> dict[Quarter, list[Row]]:
    """Events grouped by company and quarter."""
    groups: dict[Quarter, list[Row]] = defaultdict(list)
    for event in events:
        groups[event["company_id"], quarter(event["event_date"])].append(event)
    return dict(sorted(groups.items()))


def total(rows: Rows, column: str) -> float:
    """The sum of a column."""
    return float(sum(row[column] for row in rows))
