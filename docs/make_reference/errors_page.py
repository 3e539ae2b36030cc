"""Exit codes, dead-letter reasons and error classes, from the code."""

import ast
from collections.abc import Iterator

from markdown import code, table, text
from source import ROOT, parse, summary

CODE_FOLDERS = ("schemas", "producers", "topics", "streaming", "quality", "serving", "lineproof")


def errors_page() -> str:
    """Every error class, the exit codes, and the reasons of dead letters."""
    from lineproof.schemas.defects import Defect
    from lineproof.schemas.reasons import Reason

    exits = [["`0`", "done"], ["`1`", "failed"], ["`2`", "wrong usage or configuration"], ["`3`", "violations found"]]
    rows = [[code(name), code(module), text(about)] for name, module, about in sorted(_errors())]
    reasons = [[code(reason.value), text(reason.meaning), text(reason.remedy)] for reason in Reason]
    defects = [[code(each.value), text(each.meaning), text(each.effect), text(each.remedy)] for each in Defect]
    return "\n\n".join(
        [
            *("# Errors", "## Exit codes", table(["code", "meaning"], exits)),
            *("## Dead-letter reasons", "The values of `dead_letters.reason`, and what to do about each."),
            table(["reason", "meaning", "what to do"], reasons),
            *(
                "## Defects",
                "The values in `lineage_events.defects`: what is wrong with events that are used all the same.",
            ),
            table(["defect", "meaning", "what the job does", "what to do"], defects),
            *("## Error classes", "All derive from `LineproofError`: `what` happened, and the `remedy`."),
            table(["class", "module", "meaning"], rows),
        ]
    )


def _errors() -> Iterator[tuple[str, str, str]]:
    """Classes that derive from LineproofError, directly or through another, found in the source."""
    classes = {}
    for folder in CODE_FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            for node in parse(file).body:
                if isinstance(node, ast.ClassDef):
                    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
                    classes[node.name] = (bases, str(file.relative_to(ROOT)), summary(node))
    known = {"LineproofError"}
    while found := {name for name, (bases, _, _) in classes.items() if known & {*bases}} - known:
        known |= found
    return ((name, *classes[name][1:]) for name in known)
