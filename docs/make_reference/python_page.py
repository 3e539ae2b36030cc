"""The public Python classes and functions, from the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

from markdown import first_sentence
from source import ROOT, Function, parse, signature, summary, with_docstrings

MODULES = {
    "Emit": "producers/*.py producers/facets/*.py producers/transports/*.py producers/backends/*.py",
    "Read without Spark": "serving/*.py",
    "Contracts": "schemas/*.py",
}
"""The parts of the page, and the modules that each is made from."""


def python_page() -> str:
    """The public classes and functions, read from the source."""
    parts = ["# Python", "Guide with examples: [emit from your service](../openlineage_guide.md)."]
    parts += ["## `import lineproof`", *_module(ROOT / "lineproof" / "connection.py")]
    for title, patterns in MODULES.items():
        parts.append(f"## {title}")
        for file in sorted(file for pattern in patterns.split() for file in ROOT.glob(pattern)):
            found = [*_module(file)]
            name = ".".join(("lineproof", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
            parts += [f"### `{name}`", first_sentence(summary(parse(file))), *found] if found else []
    return "\n\n".join(parts)


def _module(file: Path) -> Iterator[str]:
    for node in parse(file).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield _class(node)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield f"**`{signature(node)}`** {summary(node)}"


def _class(node: ast.ClassDef) -> str:
    bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
    lines = [f"**`class {node.name}{bases}`** {summary(node)}", ""]
    for member, about in with_docstrings(node.body):
        if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
            lines.append(f"- `{ast.unparse(member.target)}: {ast.unparse(member.annotation)}` {about}".rstrip())
        elif isinstance(member, Function) and not _is_private(member):
            lines.append(f"- `{signature(member)}` {summary(member)}".rstrip())
    return "\n".join(lines).rstrip()


def _is_private(member: Function) -> bool:
    is_setter = any(ast.unparse(decorator).endswith(".setter") for decorator in member.decorator_list)
    return is_setter or (member.name.startswith("_") and member.name != "__init__")
