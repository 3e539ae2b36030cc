"""Faults that happen in production. Each is injected around a pipeline, which does not know about it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from pathlib import Path

from lineproof.producers.pipelines.apis import ApiFault
from lineproof.producers.pipelines.platform import Platform

Injection = Callable[[Platform], AbstractContextManager[None]]


class Fault(Enum):
    """A fault of one run. BAD_RECORDS and BAD_LINES spoil single records, and the run completes."""

    API_UNAVAILABLE = "an external system answers 503"
    BROKEN_PAGE = "an external system's response is truncated"
    BAD_RECORDS = "some records of an external system cannot be read"
    BAD_LINES = "some lines of an export cannot be read"
    NO_ANSWER = "the language models have no answer to one prompt"
    LOCKED_DATABASE = "somebody else is writing to the database"
    DAMAGED_REPORT = "one report is truncated"

    def inject(self, platform: Platform) -> AbstractContextManager[None]:
        """Keep the fault active inside a `with` block."""
        return _INJECTIONS[self](platform)


def _api_fault(fault: ApiFault) -> Injection:
    @contextmanager
    def inject(platform: Platform) -> Iterator[None]:
        platform.apis.fault = fault
        try:
            yield
        finally:
            platform.apis.fault = None

    return inject


@contextmanager
def _no_answer(platform: Platform) -> Iterator[None]:
    originals = {model: dict(answers) for model, answers in platform.answers.items()}
    for answers in platform.answers.values():
        answers.popitem()
    try:
        yield
    finally:
        platform.answers.update(originals)


def _corrupted(directory: Callable[[Platform], Path], corrupt: Callable[[bytes], bytes]) -> Injection:
    """Corrupt the first file of a directory, if there is one."""

    @contextmanager
    def inject(platform: Platform) -> Iterator[None]:
        originals = {file: file.read_bytes() for file in sorted(directory(platform).iterdir())[:1]}
        for file, content in originals.items():
            file.write_bytes(corrupt(content))
        try:
            yield
        finally:
            for file, content in originals.items():
                file.write_bytes(content)

    return inject


_INJECTIONS: dict[Fault, Injection] = {
    Fault.API_UNAVAILABLE: _api_fault(ApiFault.UNAVAILABLE),
    Fault.BROKEN_PAGE: _api_fault(ApiFault.BROKEN_PAGE),
    Fault.BAD_RECORDS: _api_fault(ApiFault.BAD_RECORDS),
    Fault.BAD_LINES: _corrupted(
        lambda platform: platform.inbox.directory, lambda content: content.replace(b'"rating": 1', b'"rating": "-"')
    ),
    Fault.NO_ANSWER: _no_answer,
    Fault.LOCKED_DATABASE: lambda platform: platform.database.locked(),
    Fault.DAMAGED_REPORT: _corrupted(
        lambda platform: platform.reports.directory, lambda content: content[: len(content) // 2]
    ),
}
