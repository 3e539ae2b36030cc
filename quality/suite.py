"""Load suites: YAML files that list the expectations of one dataset each.

```yaml
table: runs                    # one of lineproof's tables; or, for a dataset of yours:
# path: s3://lake/orders       # a Delta table, or Parquet files with `format: parquet`
# dataset: {namespace: s3://lake, name: orders}   # its name in your lineage; by default taken from its path
expectations:                  # expectations of Great Expectations, by name
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
    """A suite is wrong. The message starts with its file and line."""

    def __init__(self, file: Path, line: int, problem: str, remedy: str) -> None:
        super().__init__(f"{file}:{line}: {problem}", remedy)


@dataclass(frozen=True)
class Expectation:
    """An expectation as the suite declares it, with its line in the file."""

    kind: str
    arguments: Mapping[str, Any]
    line: int


@dataclass(frozen=True)
class Suite:
    """The expectations of one dataset: a table of lineproof, or the files at a path."""

    file: Path
    table: str | None
    path: str | None
    format: str
    dataset: tuple[str, str] | None
    """Namespace and name, if the file gives them."""
    expectations: tuple[Expectation, ...]

    @property
    def name(self) -> str:
        """The name of its file, without extension."""
        return self.file.stem

    def dataset_path(self, tables: str) -> str:
        """The path of its dataset, if lineproof's tables are in the directory `tables`."""
        return f"{tables}/{self.table}" if self.table else str(self.path)


def load_suite(file: Path) -> Suite:
    """Read a suite. An error names the file and the line."""
    try:
        root = yaml.compose(file.read_text())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "this is not YAML"
        raise SuiteError(file, mark.line + 1 if mark else 1, f"{problem}.", "Fix the YAML there.") from error
    if not isinstance(root, yaml.MappingNode):
        raise SuiteError(file, 1, "A suite is a mapping.", "Start with `table:` or `path:`, then `expectations:`.")
    members = _members(root)
    for name, (node, _) in members.items():
        if name not in _MEMBERS:
            similar = nearest(name, _MEMBERS)
            remedy = f"Did you mean {similar}?" if similar else f"A suite may have {', '.join(_MEMBERS)}."
            raise SuiteError(file, _line(node), f"A suite has no member {name}.", remedy)
    values = {name: value for name, (_, value) in members.items()}
    if ("table" in values) == ("path" in values):
        remedy = "Use either `table:` for a table of lineproof, or `path:` for a dataset of yours."
        raise SuiteError(file, 1, "A suite needs exactly one of table and path.", remedy)
    if values.get("format", FORMATS[0]) not in FORMATS:
        line = _line(members["format"][0])
        raise SuiteError(file, line, f"The format {values['format']} is not supported.", f"Use {' or '.join(FORMATS)}.")
    return Suite(
        file,
        values.get("table"),
        values.get("path"),
        values.get("format", FORMATS[0]),
        _dataset(file, members),
        tuple(_expectations(file, root)),
    )


def find_suites(directories: Iterable[Path]) -> dict[str, Path]:
    """All suites by name. A suite in a later directory replaces one of the same name in an earlier directory."""
    return {file.stem: file for directory in directories for file in sorted(directory.glob("*.yaml"))}


def _members(root: yaml.MappingNode) -> dict[str, tuple[yaml.Node, Any]]:
    return {str(_value(key)): (key, _value(value)) for key, value in root.value}


def _dataset(file: Path, members: Mapping[str, tuple[yaml.Node, Any]]) -> tuple[str, str] | None:
    if "dataset" not in members:
        return None
    node, value = members["dataset"]
    if not isinstance(value, dict) or sorted(value) != ["name", "namespace"]:
        raise SuiteError(file, _line(node), "A dataset has a namespace and a name.", "Give both, and nothing else.")
    return str(value["namespace"]), str(value["name"])


def _expectations(file: Path, root: yaml.MappingNode) -> Iterable[Expectation]:
    listed = next((value for key, value in root.value if _value(key) == "expectations"), None)
    if not isinstance(listed, yaml.SequenceNode) or not listed.value:
        line = 1 if listed is None else _line(listed)
        remedy = "Add `expectations:` with a list, such as `- expect_column_to_exist: {column: id}`."
        raise SuiteError(file, line, "A suite needs at least one expectation.", remedy)
    for node in listed.value:
        value = _value(node)
        is_named = isinstance(value, dict) and len(value) == 1
        arguments = next(iter(value.values())) if is_named else None
        if not is_named or not isinstance(arguments, dict | None):
            raise SuiteError(
                file,
                _line(node),
                "An expectation is a name with a mapping of arguments.",
                "Write it as `- expect_column_values_to_be_unique: {column: id}`.",
            )
        yield Expectation(str(next(iter(value))), arguments or {}, _line(node))


def _value(node: yaml.Node) -> Any:
    return yaml.SafeLoader.construct_document(_NoLoader(), node)


class _NoLoader(yaml.SafeLoader):
    """Constructs values from nodes that are already composed, so it has no input of its own."""

    def __init__(self) -> None:
        super().__init__("")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
