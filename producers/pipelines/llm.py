"""Language models, with recorded answers instead of a provider's API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openlineage.client import event_v2 as ol

from lineproof.producers import dataset_names
from lineproof.producers.facets import LlmCostRunFacet, LlmModelDatasetFacet, LlmTokensRunFacet
from lineproof.producers.pipelines.data import Dataset
from lineproof.producers.pipelines.sample import recorded_answers
from lineproof.schemas.errors import LineproofError

PROVIDER = "example-ai"

Answers = dict[str, Mapping[str, Any]]
"""Maps a prompt to the model's answer."""


class NoAnswer(LineproofError):
    """The model did not answer."""


@dataclass(frozen=True)
class Model:
    """A language model, which runs use as an input dataset."""

    name: str
    task: str
    temperature: float
    max_tokens: int
    euros_per_1000_tokens: float

    @property
    def dataset(self) -> Dataset:
        """The model as a dataset."""
        schema = {"prompt": ("string", "the question"), "completion": ("string", "the answer")}
        return Dataset(dataset_names.llm_model(PROVIDER, self.name), schema, "an answer", ("prompt",), PROVIDER)

    def as_input(self) -> ol.InputDataset:
        """The model as an input, with its parameters."""
        facet = LlmModelDatasetFacet(
            model=self.name, provider=PROVIDER, temperature=self.temperature, maxTokens=self.max_tokens
        )
        return self.dataset.as_input({facet.KEY: facet})

    def recorded(self) -> Answers:
        """The recorded answers of this model."""
        return {answered["prompt"]: answered[self.task] for answered in recorded_answers()}


SCORER = Model("outcome-scorer-1", "scoring", temperature=0.0, max_tokens=64, euros_per_1000_tokens=0.0006)
EXTRACTOR = Model("evidence-extractor-1", "evidence", temperature=0.2, max_tokens=256, euros_per_1000_tokens=0.004)


@dataclass
class Conversation:
    """The prompts of one run to one model, and their cost."""

    model: Model
    answers: Answers
    prompt_tokens: int = field(default=0, init=False)
    completion_tokens: int = field(default=0, init=False)

    def ask(self, prompt: str) -> Mapping[str, Any]:
        """The model's answer."""
        if prompt not in self.answers:
            raise NoAnswer(f"{self.model.name} did not answer the prompt {prompt!r}.", "Ask again later.")
        answer = self.answers[prompt]
        self.prompt_tokens += answer["prompt_tokens"]
        self.completion_tokens += answer["completion_tokens"]
        return answer

    def facets(self) -> dict[str, Any]:
        """Tokens and cost as run facets."""
        tokens = LlmTokensRunFacet(promptTokens=self.prompt_tokens, completionTokens=self.completion_tokens)
        amount = round(tokens.totalTokens / 1000 * self.model.euros_per_1000_tokens, 6)
        cost = LlmCostRunFacet(amount=amount, currency="EUR", model=self.model.name)
        return {tokens.KEY: tokens, cost.KEY: cost}
