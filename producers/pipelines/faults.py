"""What goes wrong in real life: each fault is in the world around a pipeline, which does not know of it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from pathlib import Path

from lineproof.producers.pipelines.apis import Trouble
from lineproof.producers.pipelines.platform import Platform

Strike = Callable[[Platform], AbstractContextManager[None]]


class Fault(Enum):
    """Something that a run can meet. BAD_RECORDS and BAD_LINES spoil records, not the run."""

    API_UNAVAILABLE = "an external system answers 503"
    BROKEN_PAGE = "an external system's answer ends in the middle"
    BAD_RECORDS = "some records of an external system cannot be read"
    BAD_LINES = "some lines of an export cannot be read"
    NO_ANSWER = "the language models have no answer to one prompt"
    LOCKED_DATABASE = "somebody else is writing to the database"
    DAMAGED_REPORT = "one report is cut off"

    def strike(self, platform: Platform) -> AbstractContextManager[None]:
        """Meanwhile it is so."""
        return _STRIKES[self](platform)


def _trouble(trouble: Trouble) -> Strike:
    @contextmanager
    def strike(platform: Platform) -> Iterator[None]:
        platform.apis.trouble = trouble
        try:
            yield
        finally:
            platform.apis.trouble = None

    return strike


@contextmanager
def _no_answer(platform: Platform) -> Iterator[None]:
    kept = {model: dict(answers) for model, answers in platform.answers.items()}
    for answers in platform.answers.values():
        answers.popitem()
    try:
        yield
    finally:
        platform.answers.update(kept)


def _spoiled(directory: Callable[[Platform], Path], spoil: Callable[[bytes], bytes]) -> Strike:
    """Spoil the first file of a directory, if there is one."""

    @contextmanager
    def strike(platform: Platform) -> Iterator[None]:
        kept = {file: file.read_bytes() for file in sorted(directory(platform).iterdir())[:1]}
        for file, content in kept.items():
            file.write_bytes(spoil(content))
        try:
            yield
        finally:
            for file, content in kept.items():
                file.write_bytes(content)

    return strike


_STRIKES: dict[Fault, Strike] = {
    Fault.API_UNAVAILABLE: _trouble(Trouble.UNAVAILABLE),
    Fault.BROKEN_PAGE: _trouble(Trouble.BROKEN_PAGE),
    Fault.BAD_RECORDS: _trouble(Trouble.BAD_RECORDS),
    Fault.BAD_LINES: _spoiled(
        lambda platform: platform.inbox.directory, lambda content: content.replace(b'"rating": 1', b'"rating": "-"')
    ),
    Fault.NO_ANSWER: _no_answer,
    Fault.LOCKED_DATABASE: lambda platform: platform.database.locked(),
    Fault.DAMAGED_REPORT: _spoiled(
        lambda platform: platform.reports.directory, lambda content: content[: len(content) // 2]
    ),
}
