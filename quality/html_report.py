"""Render results as one HTML page, with the renderers of Great Expectations' Data Docs.

The template of Data Docs loads styles and scripts from half a dozen other sites. This page loads nothing: our own style
sheet has all it needs, so it looks the same among a CI job's artifacts, in a mail and behind a firewall.
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

_EXTERNAL_RESOURCES = re.compile(
    r"""<script\b.*?</script>|<link\b[^>]*>|background: url\('http.*?;| href="(?:\.\./)+[^"]*\"""", re.DOTALL
)
"""Scripts, style sheets and images of other sites, and links to the other pages of a Data Docs site."""


class ReportedExpectation(BatchExpectation):
    """An expectation that any tool has checked, described in the words of that tool.

    Great Expectations escapes HTML in these words, and in no other text that it is given.
    """

    column: str | None = None
    words: str

    def _validate(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("A reported expectation was validated elsewhere.")

    @classmethod
    @renderer(renderer_type="renderer.prescriptive")
    def _prescriptive_renderer(cls, *_: Any, **given: Any) -> list[RenderedStringTemplateContent]:
        words = {"template": "$words", "params": {"words": given["configuration"].kwargs["words"]}}
        return [RenderedStringTemplateContent(content_block_type="string_template", string_template=words)]


def html_report(results: Sequence[Row]) -> str:
    """Render the page: one section for each suite and dataset, in the order of the results."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for result in results:
        groups.setdefault((_suite_name(result), _dataset_name(result)), []).append(result)
    rendered = [_render_group(suite, dataset, group) for (suite, dataset), group in groups.items()]
    document = RenderedDocumentContent(
        renderer_type="SiteIndexPageRenderer",  # the only one the template knows that needs no other pages
        sections=[section for content in rendered for section in content.sections],
    )
    with as_file(files("lineproof.quality").joinpath("styles")) as styles:
        view: Any = DefaultJinjaPageView(custom_styles_directory=str(styles))
        html = view.render(document, "page_minimal.j2")
    return _EXTERNAL_RESOURCES.sub("", html)


def _suite_name(result: Row) -> str:
    """The suite, or the job of another tool that ran the check."""
    return escape(result["suite"] or result["job_name"] or "")


def _dataset_name(result: Row) -> str:
    return f"{result['namespace']}/{result['name']}" if result["name"] else ""


def _render_group(suite: str, dataset: str, results: Sequence[Row]) -> RenderedDocumentContent:
    passed = sum(result["success"] for result in results)
    latest = max(results, key=lambda result: result["event_time"])
    validated = ExpectationSuiteValidationResult(
        success=passed == len(results),
        suite_name=suite,
        results=[_validation_result(result) for result in results],
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
    content: RenderedDocumentContent = ValidationResultsPageRenderer().render(validated)
    return content


def _validation_result(result: Row) -> ExpectationValidationResult:
    column = {"column": escape(result["column"])} if result["column"] else {}
    words = ": ".join(filter(None, (result["expectation"], result["expected"])))
    return ExpectationValidationResult(
        success=result["success"],
        expectation_config=ExpectationConfiguration(type="reported_expectation", kwargs={**column, "words": words}),
        result={"observed_value": escape(result["observed"] or "--"), **_unexpected(result)},
        exception_info={
            "raised_exception": bool(result["error"]),
            "exception_message": result["error"],
            "exception_traceback": "",
        },
    )


def _unexpected(result: Row) -> dict[str, Any]:
    """Unexpected rows as Great Expectations describes them, if both their count and their share are known."""
    count, share = result["unexpected_count"], result["unexpected_share"]
    if not count or not share:
        return {}
    return {
        "unexpected_count": count,
        "unexpected_percent": 100 * share,
        "element_count": round(count / share),
        "partial_unexpected_list": [escape(sample) for sample in result["samples"] or []],
    }
