"""Suites: what is expected of a dataset, one file each, without code.

```yaml
table: runs                    # one of lineproof's own; or, for a dataset of yours:
# path: s3://lake/orders       # a Delta table, or Parquet files with `format: parquet`
# dataset: {namespace: s3://lake, name: orders}   # as your lineage names it; by default, as its path says
expectations:                  # Great Expectations' own, by their names
  - expect_column_values_to_not_be_null: {column: run_id}
```
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lineproof.schemas.errors import LineproofError, nearest

FORMATS = ("delta", "parquet")
_MEMBERS = ("table", "path", "format", "dataset", "expectations")


class SuiteError(LineproofError):
    """A suite that cannot be run. Says where."""

    def __init__(self, file: Path, line: int, what: str, remedy: str) -> None:
        super().__init__(f"{file}:{line}: {what}", remedy)


@dataclass(frozen=True)
class Expectation:
    """One expectation, and where it is written."""

    kind: str
    arguments: Mapping[str, Any]
    line: int


@dataclass(frozen=True)
class Suite:
    """What is expected of one dataset. It is one of lineproof's tables, or lies at a path."""

    file: Path
    table: str | None
    path: str | None
    format: str
    dataset: tuple[str, str] | None
    """Namespace and name, where the file says them."""
    expectations: tuple[Expectation, ...]

    @property
    def name(self) -> str:
        """That of its file."""
        return self.file.stem

    def place(self, tables: str) -> str:
        """Where its dataset lies, with lineproof's tables in this directory."""
        return f"{tables}/{self.table}" if self.table else str(self.path)


def load_suite(file: Path) -> Suite:
    """Read a suite. What is wrong with it is said with file and line."""
    try:
        root = yaml.compose(file.read_text())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise SuiteError(file, mark.line + 1 if mark else 1, f"{problem}.", "Mend the YAML there.") from error
    members = _members(file, root)
    for name, (node, _) in members.items():
        if name not in _MEMBERS:
            meant = nearest(name, _MEMBERS)
            known = f"Did you mean {meant}?" if meant else f"Known are {', '.join(_MEMBERS)}."
            raise SuiteError(file, _line(node), f"A suite has no member {name}.", known)
    values = {name: value for name, (_, value) in members.items()}
    one_of_two = "Say `table:` for one of lineproof's tables, or `path:` for a dataset of yours, and not both."
    if ("table" in values) == ("path" in values):
        raise SuiteError(file, 1, "It has to be said what is tested.", one_of_two)
    if values.get("format", FORMATS[0]) not in FORMATS:
        line = _line(members["format"][0])
        raise SuiteError(file, line, f"{values['format']} is no format.", f"Known are {', '.join(FORMATS)}.")
    return Suite(
        file,
        values.get("table"),
        values.get("path"),
        values.get("format", FORMATS[0]),
        _dataset(file, members),
        tuple(_expectations(file, root)),
    )


def find_suites(directories: Iterable[Path]) -> dict[str, Path]:
    """The suites that there are, by name; one in a later directory takes the place of its namesake before."""
    return {file.stem: file for directory in directories for file in sorted(directory.glob("*.yaml"))}


def _members(file: Path, root: yaml.Node | None) -> dict[str, tuple[yaml.Node, Any]]:
    if not isinstance(root, yaml.MappingNode):
        raise SuiteError(file, 1, "A suite is a mapping.", "Begin with `table:` or `path:`, then `expectations:`.")
    return {str(_value(key)): (key, _value(value)) for key, value in root.value}


def _dataset(file: Path, members: Mapping[str, tuple[yaml.Node, Any]]) -> tuple[str, str] | None:
    if "dataset" not in members:
        return None
    node, value = members["dataset"]
    if not isinstance(value, dict) or sorted(value) != ["name", "namespace"]:
        raise SuiteError(file, _line(node), "A dataset has a namespace and a name.", "Say both, and nothing else.")
    return str(value["namespace"]), str(value["name"])


def _expectations(file: Path, root: yaml.MappingNode) -> Iterable[Expectation]:
    listed = next((value for key, value in root.value if _value(key) == "expectations"), None)
    if not isinstance(listed, yaml.SequenceNode) or not listed.value:
        line = 1 if listed is None else _line(listed)
        remedy = "Add `expectations:` with a list, such as `- expect_column_to_exist: {column: id}`."
        raise SuiteError(file, line, "Nothing is expected.", remedy)
    for node in listed.value:
        value = _value(node)
        is_named = isinstance(value, dict) and len(value) == 1
        arguments = next(iter(value.values())) if is_named else None
        if not is_named or not isinstance(arguments, dict | None):
            raise SuiteError(
                file,
                _line(node),
                "An expectation is its name, with its arguments.",
                "Write it as `- expect_column_values_to_be_unique: {column: id}`.",
            )
        yield Expectation(str(next(iter(value))), arguments or {}, _line(node))


def _value(node: yaml.Node) -> Any:
    return yaml.SafeLoader.construct_document(_NoLoader(), node)


class _NoLoader(yaml.SafeLoader):
    """Makes values of nodes that were composed before."""

    def __init__(self) -> None:
        super().__init__("")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
