"""The reporting service: reports for each company and quarter, as JSON and PDF."""

import json
from hashlib import sha256
from typing import Any

from openlineage.client.facet_v2 import nominal_time_run

from lineproof.producers.facets import MorphismStep
from lineproof.producers.pipelines import columns
from lineproof.producers.pipelines.data import Row, Rows
from lineproof.producers.pipelines.pdf import pdf
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.pipelines.tables import (
    EVIDENCE_SNIPPETS,
    METRICS_COMPANY_PERIOD,
    REPORT_DELIVERIES,
    REPORT_LINEAGE,
    SROI_CALCULATIONS,
)

REPORT_STEPS = (MorphismStep("choose_evidence", "join", "1:N"), MorphismStep("compose", "map", "1:1"))
PDF_STEPS = (MorphismStep("typeset", "map", "1:1"),)
SCHEDULE_STEPS = (MorphismStep("deliver", "map", "1:1"),)
SNIPPETS_PER_REPORT = 3
DUE = "2026-07-01T06:00:00Z"
"""The morning after the half year."""


def report_generation(platform: Platform) -> None:
    """A report for each company and quarter, with its figures and the best evidence."""
    sources = (METRICS_COMPANY_PERIOD, SROI_CALCULATIONS, EVIDENCE_SNIPPETS)
    with platform.run("report-generation", [source.as_input() for source in sources], REPORT_STEPS) as run:
        metrics, sroi, evidence = (platform.read(source) for source in sources)
        reports = []
        with run.morphism("compose") as step:
            for figures in run.ledger.count(step.over(metrics)):
                reports.append(_report(figures, sroi, evidence))
                run.progress(100 * step.input_rows / len(metrics), step.input_rows)
            step.output_rows = len(reports)
        sizes = [_save(platform, report) for report in reports]
        platform.proof.wrote(platform.reports, reports, columns=columns.REPORTS, size=sum(sizes), files=len(sizes))
        platform.write(REPORT_LINEAGE, _report_lineage(reports), columns=columns.REPORT_SOURCES)

        run.lineage.path("figures", "compose")
        run.lineage.path("evidence", "choose_evidence", "compose")
        run.lineage.reverse_join(platform.reports.name, "compose", REPORT_LINEAGE.name.name, ["report_id"])
        platform.proof.certify({"every_quarter_has_a_report": len(reports) == len(metrics)})


def _report(figures: Row, sroi: Rows, evidence: Rows) -> dict[str, Any]:
    quarter = {name: figures[name] for name in ("company_id", "period")}
    returns = [row for row in sroi if row.items() >= quarter.items()]
    snippets = [row for row in evidence if row.items() >= quarter.items()]
    best = sorted(snippets, key=lambda row: (-row["confidence_score"], row["snippet_id"]))[:SNIPPETS_PER_REPORT]
    return {
        "report_id": "_".join(quarter.values()),
        **quarter,
        "figures": {**figures, **(returns[0] if returns else {})},
        "evidence": best,
    }


def _save(platform: Platform, report: Row) -> int:
    text = json.dumps(report, ensure_ascii=False, indent=2)
    return (platform.reports.directory / f"{report['report_id']}.json").write_text(text, "utf-8")


def _report_lineage(reports: Rows) -> list[dict[str, Any]]:
    """The rows that each report quotes."""
    rows = []
    for report in reports:
        which = f"{report['company_id']}/{report['period']}"
        quoted = [
            *((table.name.name, which) for table in (METRICS_COMPANY_PERIOD, SROI_CALCULATIONS)),
            *((EVIDENCE_SNIPPETS.name.name, snippet["snippet_id"]) for snippet in report["evidence"]),
        ]
        rows += [{"report_id": report["report_id"], "source": source, "source_key": key} for source, key in quoted]
    return rows


def pdf_export(platform: Platform) -> None:
    """Export every report as a printable page."""
    with platform.run("pdf-export", [platform.reports.as_input()], PDF_STEPS) as run:
        pages, files = {}, sorted(platform.reports.directory.glob("*.json"))
        platform.proof.read(platform.reports, [file.read_text("utf-8") for file in files])
        with run.morphism("typeset") as step:
            for file in run.ledger.count(step.over(files)):
                pages[file.stem] = pdf(_lines(json.loads(file.read_text("utf-8"))))
                run.progress(100 * step.input_rows / len(files), step.input_rows)
            step.output_rows = len(pages)
        for name, page in pages.items():
            (platform.pdf_reports.directory / f"{name}.pdf").write_bytes(page)
        rows = [{"report_id": name, "document": sha256(page).hexdigest()} for name, page in pages.items()]
        size = sum(map(len, pages.values()))
        platform.proof.wrote(
            platform.pdf_reports, rows, columns=columns.pdf_reports(platform.reports), size=size, files=len(rows)
        )

        run.lineage.path("document", "typeset")
        platform.proof.certify({"every_report_has_a_pdf": len(rows) == len(files)})


def _lines(report: Row) -> list[str]:
    figures = [f"{name.replace('_', ' ')}: {value}" for name, value in report["figures"].items()]
    quotations = [f"\u201c{row['snippet_text']}\u201d ({row['confidence_score']:.0%})" for row in report["evidence"]]
    return [f"Impact report: {report['company_id']}, {report['period']}", "", *figures, "", *quotations]


def scheduled_reports(platform: Platform) -> None:
    """Generate and export the reports of the half year when they are due: two runs inside this run."""
    due = nominal_time_run.NominalTimeRunFacet(nominalStartTime=DUE)
    inputs = [METRICS_COMPANY_PERIOD.as_input(), platform.pdf_reports.as_input()]
    with platform.run("scheduled-reports", inputs, SCHEDULE_STEPS, facets={"nominalTime": due}) as run:
        quarters = platform.read(METRICS_COMPANY_PERIOD)
        report_generation(platform)
        pdf_export(platform)
        with run.morphism("deliver") as step:
            rows = [_delivery(platform, quarter) for quarter in run.ledger.count(step.over(quarters))]
            step.output_rows = len(rows)
        platform.proof.read(platform.pdf_reports, rows)
        platform.write(REPORT_DELIVERIES, rows, columns=columns.deliveries(platform.pdf_reports))

        run.lineage.path("checksum", "deliver")
        platform.proof.certify({"every_report_is_delivered": len(rows) == len(quarters)})


def _delivery(platform: Platform, quarter: Row) -> dict[str, Any]:
    report_id = f"{quarter['company_id']}_{quarter['period']}"
    page = (platform.pdf_reports.directory / f"{report_id}.pdf").read_bytes()
    return {"report_id": report_id, "company_id": quarter["company_id"], "checksum": sha256(page).hexdigest()}
