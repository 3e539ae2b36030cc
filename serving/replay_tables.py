"""Plan a replay into tables: choose the records, and check that the target directory is safe to write to."""

from pathlib import Path

from lineproof.schemas.errors import LineproofError
from lineproof.serving.replay_plan import Plan, load_plan, make_plan
from lineproof.serving.selection import Selection

PLAN_DIRECTORY = ".replay"
"""Holds the plan and the checkpoints, below the new tables. Readers of tables ignore it."""


class UnsuitableDirectory(LineproofError):
    """Tables cannot be rebuilt in this directory."""

    exit_code = 2


def plan_tables(directory: Path, selection: Selection, tables: str, spill: Path) -> Plan:
    """Plan a replay of the archive in `tables` into a directory, or return the plan of the replay begun there."""
    purpose = {"tables": tables, "selection": selection.options()}
    _refuse_live_tables(directory, tables)
    plan = load_plan(directory / PLAN_DIRECTORY)
    if plan is None:
        _refuse_foreign_files(directory)
        return make_plan(directory / PLAN_DIRECTORY, purpose, selection, tables, spill)
    if plan.purpose != purpose:
        raise UnsuitableDirectory(
            f"{directory} holds a replay with another selection: {plan.purpose}.",
            "Repeat the command with that selection to continue it. For a new selection, use another directory, or "
            "remove this one.",
        )
    return plan


def _refuse_live_tables(directory: Path, tables: str) -> None:
    """Never write to the live tables."""
    target, live = directory.resolve(), Path(tables).resolve()
    if target == live or live in target.parents or target in live.parents:
        raise UnsuitableDirectory(
            f"{directory} holds the live tables, or is inside them.", "Use an empty directory outside of them."
        )


def _refuse_foreign_files(directory: Path) -> None:
    """Write only to a directory that is empty or that a replay has made."""
    if directory.exists() and (
        not directory.is_dir() or any(file.name != PLAN_DIRECTORY for file in directory.iterdir())
    ):
        raise UnsuitableDirectory(
            f"{directory} is not empty, and no replay was started there.", "Use an empty or a new directory."
        )
