"""Read events from files of any size."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineproof.local.load import load_files
from lineproof.settings import Settings
from lineproof.topics.event_files import UnreadableFile, opened, split

TEXTS = [
    ('{"a": 1}', [(1, '{"a": 1}')]),
    ('{"a":\n 1}\n', [(1, '{"a":\n 1}')]),
    ('{"a": 1}\n\n{"a": 2}\r\n', [(1, '{"a": 1}'), (3, '{"a": 2}')]),
    ('[\n{"a": 1.50},\n{"a": 12345678901234567890}\n]', [(2, '{"a": 1.50}'), (3, '{"a": 12345678901234567890}')]),
    ('{"a": 1}\nnot json\n{"a": 2}', [(1, '{"a": 1}'), (2, "not json"), (3, '{"a": 2}')]),
    ('{"a": 1\n{"a": 2}\n{"a": [\n{"a": 3}', [(1, '{"a": 1'), (2, '{"a": 2}'), (3, '{"a": ['), (4, '{"a": 3}')]),
    (
        '[{\n"a": 1\n}, {\n"a": "tail\n}, {"a": 3}]',
        [(1, '{\n"a": 1\n}'), (3, "{"), (4, '"a"'), (4, ': "tail'), (5, '}, {"a": 3}]')],
    ),
    ('{"a": 1} {"a": 2}\n', [(1, '{"a": 1}'), (1, '{"a": 2}')]),
    ('\ufeff{"a": 1}', [(1, '{"a": 1}')]),
    ("", []),
]


@pytest.mark.parametrize(("text", "events"), TEXTS)
def test_split(text: str, events: list[tuple[int, str]]) -> None:
    assert [(document.line, document.text) for document in split(text.splitlines(keepends=True))] == events


@pytest.mark.parametrize("text", [text for text, _ in TEXTS])
def test_after_any_event_the_rest_is_the_same(text: str) -> None:
    lines = text.splitlines(keepends=True)
    documents = list(split(lines))
    for number, document in enumerate(documents):
        assert list(split(lines, document.end)) == documents[number + 1 :]


def test_lines_are_read_only_when_needed() -> None:
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for _ in range(1000):
            read += 1
            yield '{"a": 1}\n'

    for number, _ in enumerate(split(lines()), 1):
        assert read == number


def test_a_document_of_many_lines_is_parsed_a_few_times_only() -> None:
    members = "".join(f'"{number}": {number},\n' for number in range(200_000))
    [document] = split(f'{{{members}"last": 0}}\n'.splitlines(keepends=True))
    assert (document.line, document.end.line) == (1, 200_001)


def test_zipped_and_not_utf8(tmp_path: Path) -> None:
    """Bytes stay unchanged even if they are not UTF-8; the JSON parser refuses them later."""
    content = '{"a": "ü"}\n'.encode() + b'{"a": "\xff"}\n'
    file = tmp_path / "events.jsonl"
    file.write_bytes(gzip.compress(content))
    with opened(str(file)) as (lines, read):
        assert [document.payload for document in split(lines)] == content.splitlines()
        assert read() == file.stat().st_size
    file.write_bytes(gzip.compress(content)[:-9])
    with (
        pytest.raises(UnreadableFile, match=r"events\.jsonl cannot be read to its end"),
        opened(str(file)) as (lines, _),
    ):
        list(lines)


def test_a_missing_file_is_named_before_anything_is_sent() -> None:
    with pytest.raises(UnreadableFile, match=r"nowhere\.json cannot be read"):
        load_files(["nowhere.json"], Settings())
