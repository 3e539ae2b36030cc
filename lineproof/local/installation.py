"""What the settings say that answers from the tables need, and the list of critical pipelines: `coverage.pipelines`."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from lineproof.schemas.durations import Duration
from lineproof.schemas.errors import LineproofError
from lineproof.serving.answers.installation import DAY_S, CriticalPipeline, Installation
from lineproof.settings import Settings
from lineproof.settings.freshness import PIPELINES

MAX_MINUTES = 10**9
"""About 1,900 years."""


class UnusablePipelines(LineproofError):
    """The list of critical pipelines cannot be used."""

    exit_code = 2


def installation_of(settings: Settings) -> Installation:
    """The installation that the settings describe."""
    return Installation(
        version("lineproof"),
        settings.checkpoints_path,
        critical_pipelines(settings.coverage.pipelines),
        settings.coverage.pipelines,
        tuple((pattern, limit.seconds) for pattern, limit in settings.freshness.limits.items()),
    )


def critical_pipelines(file: str) -> tuple[CriticalPipeline, ...] | None:
    """The pipelines in a file. None if no file is named, or if there is none at the default place."""
    if not file or (file == PIPELINES and not Path(file).exists()):
        return None
    try:
        document = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnusablePipelines(
            f"The list of critical pipelines {file} cannot be read: {error}.",
            "Set coverage.pipelines to another file, or to empty.",
        ) from error
    except yaml.YAMLError as error:
        raise _invalid(file, f"it is not YAML: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("pipelines"), list):
        raise _invalid(file, "it has no list `pipelines`")
    found = [_pipeline(file, number, entry, document) for number, entry in enumerate(document["pipelines"], 1)]
    listed = {(one.namespace, one.name): one for one in found}
    if len(listed) < len(found):
        twice = next(one for one in found if listed[one.namespace, one.name] is not one)
        raise _invalid(file, f"{twice.namespace}/{twice.name} is listed twice")
    return tuple(found)


def _pipeline(file: str, number: int, entry: Any, document: dict[str, Any]) -> CriticalPipeline:
    if not isinstance(entry, dict):
        raise _invalid(file, f"entry {number} is not a mapping")
    where = f"entry {number} ({entry.get('name', 'without a name')})"
    name, namespace = entry.get("name"), entry.get("namespace", document.get("namespace"))
    if not isinstance(name, str) or not name or not isinstance(namespace, str) or not namespace:
        raise _invalid(file, f"{where} needs the texts name and namespace; namespace may be stated once, for all")
    minutes = entry.get("freshness_minutes")
    if minutes is not None and (
        not isinstance(minutes, int | float) or isinstance(minutes, bool) or not 0 < minutes < MAX_MINUTES
    ):
        raise _invalid(file, f"{where} has freshness_minutes that is not a number above 0")
    freshness_s = None if minutes is None else 60.0 * minutes
    return CriticalPipeline(namespace, name, _period(file, where, entry) or freshness_s or DAY_S, freshness_s)


def _period(file: str, where: str, entry: dict[str, Any]) -> float | None:
    if "period" not in entry:
        return None
    try:
        return Duration(str(entry["period"])).seconds
    except ValueError as error:
        raise _invalid(file, f"{where} has a period that is not a duration such as 24h or 7d") from error


def _invalid(file: str, problem: str) -> UnusablePipelines:
    return UnusablePipelines(
        f"The list of critical pipelines {file} is not valid: {problem}.",
        "Correct it; docs/coverage.md has an example.",
    )
