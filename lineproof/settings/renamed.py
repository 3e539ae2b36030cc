"""Settings that were renamed: an old name is refused, and the error gives the new one."""

from collections.abc import Mapping
from typing import Any

RENAMED = {
    "lineage": "emitter",
    "compact_trigger": "maintenance.compact_every",
    "maintain_trigger": "maintenance.full_every",
    "quality_trigger": "quality.run_every",
    "suites": "quality.suites",
    "retention.files": "retention.vacuum_after",
    "retention.edges": "retention.column_lineage",
}
"""Old name to new name, of a setting or of a whole section."""


def new_name(name: str, separator: str = ".") -> str | None:
    """The new name of a setting, if `name` is an old name."""
    for old, new in RENAMED.items():
        prefix = old.replace(".", separator)
        if name == prefix or name.startswith(f"{prefix}{separator}"):
            return new.replace(".", separator) + name.removeprefix(prefix)
    return None


def old_names(settings: Mapping[str, Any], section: str = "") -> dict[str, str]:
    """The old names among these settings, with the new ones."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        path = f"{section}{name}"
        if isinstance(value, Mapping) and value:
            found |= old_names(value, f"{path}.")
        elif new := new_name(path):
            found[path] = new
    return found
