"""Language models: which one was read from, what it cost, and what its answers rest on."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import DatasetFacet, RunFacet


@attr.define
class LlmModelDatasetFacet(DatasetFacet):
    """A language model that a run read from; the model is an input dataset."""

    KEY: ClassVar[str] = "lineproof_llmModel"

    model: str
    provider: str
    temperature: float | None = None
    maxTokens: int | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLlmModelDatasetFacet"


@attr.define
class LlmTokensRunFacet(RunFacet):
    """The tokens a run used; the total is computed."""

    KEY: ClassVar[str] = "lineproof_llmTokens"

    promptTokens: int
    completionTokens: int
    totalTokens: int = attr.field(init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.totalTokens = self.promptTokens + self.completionTokens

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLlmTokensRunFacet"


@attr.define
class LlmCostRunFacet(RunFacet):
    """What a run paid for language models; without `model`, for all of them."""

    KEY: ClassVar[str] = "lineproof_llmCost"

    amount: float
    currency: str
    model: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLlmCostRunFacet"


@attr.define
class Citation:
    """A source of an answer, with the model's confidence in it from 0 to 1."""

    source: str
    snippetId: str | None = None
    confidence: float | None = None


@attr.define
class LlmCitationsRunFacet(RunFacet):
    """What the answers of a language model rest on."""

    KEY: ClassVar[str] = "lineproof_llmCitations"

    citations: list[Citation]

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLlmCitationsRunFacet"
