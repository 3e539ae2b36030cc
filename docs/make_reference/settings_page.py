"""Every setting, from the settings classes."""

import inspect
import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from markdown import code, table, text
from pydantic import BaseModel


def settings_page() -> str:
    """Every setting, section by section."""
    from lineproof.settings import Settings
    from lineproof.settings.renamed import RENAMED

    general: tuple[str, str, type[BaseModel]] = ("", "", Settings)
    sections = [general, *_sections(Settings)]
    parts = ["# Settings", "How to set them: [configuration](../configuration.md)."]
    for name, about, section in sections:
        parts.append(f"## `{name}`" if name else "## General")
        parts += [" ".join(about.split())] if about else []
        parts.append(table(["setting", "default", "environment variable", "meaning"], _settings(name, section)))
    renamed = table(["old name", "new name"], [[code(old), code(new)] for old, new in RENAMED.items()])
    parts += ["## Renamed settings", "An old name is refused with the new one.", renamed]
    return "\n\n".join(parts)


def _sections(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        if inspect.isclass(field.annotation) and issubclass(field.annotation, BaseModel):
            nested = [*_sections(field.annotation, f"{prefix}{name}.")]
            if len(nested) < len(field.annotation.model_fields):
                yield f"{prefix}{name}", inspect.getdoc(field.annotation) or "", field.annotation
            yield from nested


def _settings(section: str, model: type[BaseModel]) -> list[list[str]]:
    rows = []
    for field_name, field in model.model_fields.items():
        if inspect.isclass(field.annotation) and issubclass(field.annotation, BaseModel):
            continue
        name = f"{section}.{field_name}" if section else field_name
        default = field.get_default(call_default_factory=True)
        is_table = isinstance(default, dict)
        variable = "" if is_table else code("LINEPROOF_" + name.upper().replace(".", "_"))
        rows.append([code(name), code(_yaml(default)), variable, text(field.description)])
    return rows


def _yaml(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    return str(value) if isinstance(value, Path | str) else json.dumps(value, default=str)
