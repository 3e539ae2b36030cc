"""The sections about freshness and coverage."""

from collections.abc import Mapping

from pydantic import Field, model_validator

from lineproof.settings.sections import Interval, Section

PIPELINES = "conf/pipelines.yaml"


class FreshnessSettings(Section):
    """How old datasets may be, besides what jobs declare."""

    limits: dict[str, Interval] = Field(
        default_factory=dict,
        description="How old a dataset may be, such as `24h`, by a pattern of NAMESPACE/NAME in which `*` stands for "
        "any text. The first pattern that matches counts, unless a job or the list of pipelines declares less.",
    )

    @model_validator(mode="before")
    @classmethod
    def _nested(cls, value: object) -> object:
        """--set names a limit by its path: `limits.PATTERN`, also if the pattern has dots."""
        if not isinstance(value, Mapping):
            return value
        prefix = "limits."
        nested = {name.removeprefix(prefix): limit for name, limit in value.items() if name.startswith(prefix)}
        if not nested:
            return value
        others = {name: given for name, given in value.items() if not name.startswith(prefix)}
        return {**others, "limits": {**nested, **(others.get("limits") or {})}}


class CoverageSettings(Section):
    """The pipelines whose lineage must be there."""

    pipelines: str = Field(
        PIPELINES,
        description="File with the list of critical pipelines. Empty, or the default without such a file: no list.",
    )
