"""Results as a page, by the renderers of Great Expectations' Data Docs.

Their template asks half a dozen other sites for styles and scripts. This page asks nobody: what it needs is in our own
style sheet, so that it looks the same among a CI job's artefacts, in a mail and behind a firewall.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import as_file, files
from typing import Any

from great_expectations import __version__ as version
from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult
from great_expectations.core.run_identifier import RunIdentifier
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from great_expectations.render.components import RenderedDocumentContent, RenderedStringTemplateContent
from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
from great_expectations.render.renderer.renderer import renderer
from great_expectations.render.view.view import DefaultJinjaPageView

Row = Mapping[str, Any]
"""A row of `latest_results`."""

_ELSEWHERE = re.compile(
    r"""<script\b.*?</script>|<link\b[^>]*>|background: url\('http.*?;| href="(?:\.\./)+[^"]*\"""", re.DOTALL
)
"""Scripts, style sheets and pictures of other sites, and links into a site of which this page is all there is."""


class StatedExpectation(BatchExpectation):
    """Whatever was expected, by whatever tool, in its own words.

    Great Expectations escapes these words, and nothing else that it is given.
    """

    column: str | None = None
    words: str

    def _validate(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("It was validated elsewhere.")

    @classmethod
    @renderer(renderer_type="renderer.prescriptive")
    def _prescriptive_renderer(cls, *_: Any, **given: Any) -> list[RenderedStringTemplateContent]:
        words = {"template": "$words", "params": {"words": given["configuration"].kwargs["words"]}}
        return [RenderedStringTemplateContent(content_block_type="string_template", string_template=words)]


def page(results: Sequence[Row]) -> str:
    """The page: a chapter for each suite and dataset, in the order of the results."""
    chapters: dict[tuple[str, str], list[Row]] = {}
    for one in results:
        chapters.setdefault((suite_of(one), dataset_of(one)), []).append(one)
    rendered = [_chapter(suite, dataset, ones) for (suite, dataset), ones in chapters.items()]
    document = RenderedDocumentContent(
        renderer_type="SiteIndexPageRenderer",  # of those that the template knows, the one that stands by itself
        sections=[section for one in rendered for section in one.sections],
    )
    with as_file(files("lineproof.quality").joinpath("styles")) as styles:
        view: Any = DefaultJinjaPageView(custom_styles_directory=str(styles))
        html = view.render(document, "page_minimal.j2")
    return _ELSEWHERE.sub("", html)


def suite_of(result: Row) -> str:
    """What tested: a suite, or a job of another tool."""
    return escape(result["suite"] or result["job_name"] or "")


def dataset_of(result: Row) -> str:
    """What was tested."""
    return f"{result['namespace']}/{result['name']}" if result["name"] else ""


def _chapter(suite: str, dataset: str, results: Sequence[Row]) -> RenderedDocumentContent:
    passed = sum(one["success"] for one in results)
    latest = max(results, key=lambda one: one["event_time"])
    validated = ExpectationSuiteValidationResult(
        success=passed == len(results),
        suite_name=suite,
        results=[_result(one) for one in results],
        statistics={
            "evaluated_expectations": len(results),
            "successful_expectations": passed,
            "unsuccessful_expectations": len(results) - passed,
            "success_percent": 100 * passed / len(results),
        },
        meta={
            "great_expectations_version": version,
            "run_id": RunIdentifier(run_name=latest["run_id"], run_time=latest["event_time"]),
            "batch_spec": {"data_asset_name": dataset},
        },
    )
    chapter: RenderedDocumentContent = ValidationResultsPageRenderer().render(validated)
    return chapter


def _result(one: Row) -> ExpectationValidationResult:
    column = {"column": escape(one["column"])} if one["column"] else {}
    words = ": ".join(filter(None, (one["expectation"], one["expected"])))
    return ExpectationValidationResult(
        success=one["success"],
        expectation_config=ExpectationConfiguration(type="stated_expectation", kwargs={**column, "words": words}),
        result={"observed_value": escape(one["observed"] or "--"), **_unexpected(one)},
        exception_info={
            "raised_exception": bool(one["error"]),
            "exception_message": one["error"],
            "exception_traceback": "",
        },
    )


def _unexpected(one: Row) -> dict[str, Any]:
    """Rows that are not as expected, in the words of Great Expectations, where all of them are known."""
    count, share = one["unexpected_count"], one["unexpected_share"]
    if not count or not share:
        return {}
    return {
        "unexpected_count": count,
        "unexpected_percent": 100 * share,
        "element_count": round(count / share),
        "partial_unexpected_list": [escape(sample) for sample in one["samples"] or []],
    }
