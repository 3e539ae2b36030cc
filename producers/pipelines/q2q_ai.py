"""The q2q-ai service: turns feedback into scores and evidence, with language models."""

import json
from collections.abc import Iterator
from typing import Any

from lineproof.producers.facets import Citation, CostJobFacet, LlmCitationsRunFacet, MorphismStep
from lineproof.producers.lineage_mode import LineageMode
from lineproof.producers.pipelines import columns
from lineproof.producers.pipelines.data import Row, Rows
from lineproof.producers.pipelines.impact_in import pseudonym
from lineproof.producers.pipelines.llm import EXTRACTOR, SCORER, Conversation
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.pipelines.sample import quarter
from lineproof.producers.pipelines.tables import BUDDY_FEEDBACK, EVIDENCE_SNIPPETS, OUTCOME_SCORES
from lineproof.producers.run import Run
from lineproof.producers.telemetry import Morphism
from lineproof.schemas.sanitise import sanitise

INGESTION_STEPS = (MorphismStep("mask", "map", "1:1"),)
SCORING_STEPS = (MorphismStep("ask_scorer", "llm", "1:1"),)
EXTRACTION_STEPS = (MorphismStep("ask_extractor", "llm", "1:1"), MorphismStep("weigh", "map", "1:1"))


def feedback_ingestion(platform: Platform) -> None:
    """Ingest survey answers from the export files of the survey tool. Addresses are masked."""
    inbox = platform.inbox
    with platform.run("feedback-ingestion", [inbox.as_input()], INGESTION_STEPS) as run:
        lines = [line for file in sorted(inbox.directory.iterdir()) for line in file.read_text("utf-8").splitlines()]
        platform.proof.read(inbox, lines)
        rows = _ingested(lines, run)
        platform.write(BUDDY_FEEDBACK, rows, columns=columns.feedback(inbox))

        run.lineage.path("feedback_text", "mask")
        platform.proof.certify(
            {
                "no_address_is_kept": not any("@" in str(value) for row in rows for value in row.values()),
                "sentiment_is_in_range": all(-1 <= row["sentiment"] <= 1 for row in rows),
            }
        )


def _ingested(lines: list[str], run: Run) -> list[dict[str, Any]]:
    """One row per line. An invalid line is counted as errored."""
    rows = []
    with run.morphism("mask") as step:
        for line in run.ledger.count(step.over(lines)):
            try:
                rows.append(_feedback_row(json.loads(line)))
            except (KeyError, TypeError, ValueError):
                run.ledger.error()
                step.error_rows += 1
            run.progress(100 * step.input_rows / len(lines), step.input_rows)
        step.output_rows = len(rows)
        step.quality["masked"] = sum("[email]" in row["feedback_text"] for row in rows)
    return rows


def _feedback_row(answer: Row) -> dict[str, Any]:
    return {
        "feedback_id": answer["id"],
        "company_id": answer["company"],
        "participant_id": pseudonym(answer["email"]),
        "feedback_text": sanitise(answer["text"]),
        "sentiment": (int(answer["rating"]) - 3) / 2,
        "submitted_on": answer["submitted"],
    }


def q2q_transformation(platform: Platform) -> None:
    """A score for each answer: qualitative to quantitative."""
    conversation = Conversation(SCORER, platform.answers[SCORER])
    inputs = [BUDDY_FEEDBACK.as_input(), SCORER.as_input()]
    with platform.run("q2q-transformation", inputs, SCORING_STEPS, job_facets=_cost(0.02)) as run:
        asked = _asked(platform.read(BUDDY_FEEDBACK), conversation, run.morphism("ask_scorer"), run)
        rows = [_score_row(feedback, answer) for feedback, answer in asked]
        platform.write(OUTCOME_SCORES, rows, columns=columns.SCORES)

        run.lineage.path("score", "ask_scorer")
        for key, facet in conversation.facets().items():
            run.add_facet(key, facet)
        platform.proof.certify({"score_is_in_range": all(0 <= row["score"] <= 1 for row in rows)})


def _asked(feedback: Rows, conversation: Conversation, step: Morphism, run: Run) -> Iterator[tuple[Row, Row]]:
    """Every feedback that is not empty, with the model's answer."""
    with step:
        for row in run.ledger.count(step.over(feedback)):
            if row["feedback_text"]:
                yield row, conversation.ask(row["feedback_text"])
                step.output_rows += 1
            else:
                run.ledger.filter()
            run.progress(100 * step.input_rows / len(feedback), step.input_rows)


def _score_row(feedback: Row, answer: Row) -> dict[str, Any]:
    return {
        "feedback_id": feedback["feedback_id"],
        "company_id": feedback["company_id"],
        "period": quarter(feedback["submitted_on"]),
        "dimension": answer["dimension"],
        "score": answer["score"],
        "sentiment": feedback["sentiment"],
    }


def q2q_evidence_extraction(platform: Platform) -> None:
    """A quotation from each answer for reports, with a confidence score."""
    conversation = Conversation(EXTRACTOR, platform.answers[EXTRACTOR])
    with platform.run(
        "q2q-evidence-extraction",
        [BUDDY_FEEDBACK.as_input(), EXTRACTOR.as_input()],
        EXTRACTION_STEPS,
        job_facets=_cost(0.15),
        lineage_mode=LineageMode.FULL,  # a quotation must lead back to the answer it is from
    ) as run:
        feedback = platform.read(BUDDY_FEEDBACK)
        asked = _asked(feedback, conversation, run.morphism("ask_extractor"), run)
        snippets = [_snippet_row(row, answer) for row, answer in asked]
        platform.write(EVIDENCE_SNIPPETS, snippets, columns=columns.EVIDENCE)

        _trace_evidence(snippets, conversation, run)
        texts = {row["feedback_id"]: row["feedback_text"] for row in feedback}
        platform.proof.certify(
            {
                "every_snippet_is_quoted": all(row["snippet_text"] in texts[row["feedback_id"]] for row in snippets),
                "confidence_is_in_range": all(0 <= row["confidence_score"] <= 1 for row in snippets),
            }
        )


def _snippet_row(feedback: Row, answer: Row) -> dict[str, Any]:
    return {
        "snippet_id": f"SN-{feedback['feedback_id']}",
        "feedback_id": feedback["feedback_id"],
        "company_id": feedback["company_id"],
        "period": quarter(feedback["submitted_on"]),
        "dimension": answer["dimension"],
        "snippet_text": answer["snippet"],
        "confidence_score": round(answer["confidence"] * (0.75 + 0.25 * abs(feedback["sentiment"])), 4),
    }


def _trace_evidence(snippets: Rows, conversation: Conversation, run: Run) -> None:
    citations = LlmCitationsRunFacet(
        citations=[Citation(row["feedback_id"], row["snippet_id"], row["confidence_score"]) for row in snippets]
    )
    for key, facet in {**conversation.facets(), citations.KEY: citations}.items():
        run.add_facet(key, facet)
    run.lineage.path("snippet_text", "ask_extractor")
    run.lineage.path("confidence_score", "ask_extractor", "weigh")
    run.lineage.reverse_join(EVIDENCE_SNIPPETS.name, "ask_extractor", BUDDY_FEEDBACK.name.name, ["feedback_id"])
    for row in snippets:
        run.lineage.keys(EVIDENCE_SNIPPETS.name, row["snippet_id"], [row["feedback_id"]])


def _cost(euros: float) -> dict[str, Any]:
    facet = CostJobFacet(amount=euros, currency="EUR", basis="a run")
    return {facet.KEY: facet}
