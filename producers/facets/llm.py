"""Facets for language models: model, tokens, cost and citations."""

from typing import ClassVar

import attr
from openlineage.client.generated.base import DatasetFacet, RunFacet


@attr.define
class LlmModelDatasetFacet(DatasetFacet):
    """A language model that a run used. The model is an input dataset."""

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
    """The tokens that a run used. The total is computed."""

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
    """The cost of language models in a run. Without `model`, the cost of all models."""

    KEY: ClassVar[str] = "lineproof_llmCost"

    amount: float
    currency: str
    model: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLlmCostRunFacet"


@attr.define
class Citation:
    """A source of an answer, with the model's confidence from 0 to 1."""

    source: str
    snippetId: str | None = None
    confidence: float | None = None


@attr.define
class LlmCitationsRunFacet(RunFacet):
    """The sources of a language model's answers."""

    KEY: ClassVar[str] = "lineproof_llmCitations"

    citations: list[Citation]

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineproof:facet:1-0-0:LineproofLlmCitationsRunFacet"
