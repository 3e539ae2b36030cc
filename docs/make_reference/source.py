"""Read the source without importing it: docstrings, signatures, constants."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parse(file: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(file.read_text())


def constants(file: Path) -> Iterator[tuple[str, str]]:
    """The text constants of a module, each with the docstring below it."""
    for node, about in with_docstrings(parse(file).body):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield str(node.value.value), about


def with_docstrings(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    """Statements, each with the text that stands below it."""
    for node, below in zip(body, [*body[1:], None], strict=True):
        match below:
            case ast.Expr(value=ast.Constant(value=str(about))):
                yield node, " ".join(about.split())
            case _:
                yield node, ""


def signature(node: Function) -> str:
    """A function as it is called; a property as a name with a type."""
    if any(ast.unparse(decorator) in ("property", "cached_property") for decorator in node.decorator_list):
        return f"{node.name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
    arguments = re.sub(r"^(self|cls)(, )?", "", ast.unparse(node.args))
    returned = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}{node.name}({arguments}){returned}"


def summary(node: ast.Module | ast.ClassDef | Function) -> str:
    """The first paragraph of a docstring."""
    return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
