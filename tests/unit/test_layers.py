"""The layout of the project: which folder may import which."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "schemas": {"schemas"},
    "producers": {"producers", "schemas"},
    "streaming": {"streaming", "schemas"},
    "quality": {"quality", "schemas", "producers", "streaming"},
}


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module} if node.module != "lineproof" else {f"lineproof.{n.name}" for n in node.names})
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return {name.split(".")[1] for name in found if name.startswith("lineproof.")}


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_folders_import_only_what_lies_below_them(folder: str) -> None:
    files = list((ROOT / folder).rglob("*.py"))
    assert files
    for file in files:
        assert imports(file) <= MAY_IMPORT[folder], file


def test_the_emitter_needs_no_spark() -> None:
    """`pip install lineproof` alone must be enough to emit."""
    for folder in ("schemas", "producers"):
        for file in (ROOT / folder).rglob("*.py"):
            assert "pyspark" not in file.read_text(), file


def test_no_python_udf_in_the_job() -> None:
    for file in (ROOT / "streaming").rglob("*.py"):
        assert "udf(" not in file.read_text(), file
