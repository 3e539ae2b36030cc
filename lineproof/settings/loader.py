"""Read the settings: command line > environment > file > default."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ValidationError

from lineproof.schemas.errors import nearest
from lineproof.settings.interpolation import SettingsError, interpolate
from lineproof.settings.manifest import MANIFEST_VARIABLE, from_manifest
from lineproof.settings.model import OPTIONS, SECTIONS, Settings
from lineproof.settings.renamed import new_name, old_names

ENV_PREFIX = "LINEPROOF_"
CONFIG_VARIABLE = "LINEPROOF_CONFIG"
DEFAULT_FILE = Path("lineproof.yaml")
OTHER_VARIABLES = {CONFIG_VARIABLE, MANIFEST_VARIABLE, "LINEPROOF_JARS"}
"""Variables of ours that are not settings."""
DOTTED_OPTIONS = ("kafka", "schema_registry")
"""Options whose names have dots and no underscores, so that a variable can spell a dot as an underscore."""


def load(file: Path | None = None, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. `overrides` are texts such as `topics.events=NAME` from the command line."""
    environ = os.environ if environ is None else environ
    named = file or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    layers = [
        from_manifest(environ),
        _from_file(named or DEFAULT_FILE, environ) if named or DEFAULT_FILE.exists() else {},
        _from_openlineage_environment(environ),
        _from_environment(environ),
        _from_overrides(overrides),
    ]
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            both_are_sections = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
            merged[name] = {**merged[name], **value} if both_are_sections else value
    _refuse_old_names(old_names(merged))
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, item['loc']))}: {_message(item)}" for item in error.errors()]
        raise SettingsError(
            f"The settings are not valid: {'; '.join(problems)}",
            "Correct them; conf/lineproof.yaml lists every setting.",
        ) from error


def _refuse_old_names(renamed: Mapping[str, str]) -> None:
    if renamed:
        changes = "; ".join(f"{old} was renamed to {new}" for old, new in renamed.items())
        raise SettingsError(f"Old names in the settings: {changes}.", "Use the new names.")


def _message(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        section: type[BaseModel] = Settings
        for name in item["loc"][:-1]:
            section = cast("type[BaseModel]", section.model_fields[name].annotation)
        return _did_you_mean(str(item["loc"][-1]), section.model_fields)
    return str(item["msg"]).removeprefix("Value error, ")


def _did_you_mean(name: str, known: Mapping[str, object]) -> str:
    suggestion = nearest(name, known)
    hint = f"did you mean '{suggestion}'?" if suggestion else f"known settings: {', '.join(known)}"
    return f"there is no such setting; {hint}"


def _from_file(file: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    try:
        document = yaml.safe_load(_interpolate(file.read_text(), file, environ)) or {}
    except OSError as error:
        raise SettingsError(
            f"The settings file {file} cannot be read: {error.strerror}.", "Name another file with --config."
        ) from error
    except yaml.YAMLError as error:
        raise SettingsError(f"The settings file {file} is not valid YAML: {error}.", "Correct it.") from error
    if not isinstance(document, dict):
        raise SettingsError(f"The settings file {file} holds no settings.", "Write `name: value` lines.")
    is_section = SECTIONS.keys() | OPTIONS
    return {name: ({} if value is None and name in is_section else value) for name, value in document.items()}


def _interpolate(text: str, file: Path, environ: Mapping[str, str]) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line if line.lstrip().startswith("#") else interpolate(line, file, environ) for line in lines)


def _from_openlineage_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The variables that all OpenLineage clients read. Our own variables take precedence."""
    names = {
        "OPENLINEAGE_NAMESPACE": "namespace",
        "OPENLINEAGE_URL": "url",
        "OPENLINEAGE_ENDPOINT": "endpoint",
        "OPENLINEAGE_API_KEY": "api_key",
    }
    found: dict[str, Any] = {name: environ[variable] for variable, name in names.items() if environ.get(variable)}
    if "url" in found:
        found["transports"] = ["http"]
    if environ.get("OPENLINEAGE_DISABLED"):
        found["disabled"] = environ["OPENLINEAGE_DISABLED"].strip().lower() == "true"
    return {"emitter": found} if found else {}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """`LINEPROOF_TRIGGER`, `LINEPROOF_TOPICS_EVENTS`, `LINEPROOF_KAFKA_BOOTSTRAP_SERVERS`.

    Options of Spark and of its Kafka source are case-sensitive, and cannot be written as variables.
    """
    found: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    for variable, value in environ.items():
        if not variable.startswith(ENV_PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(ENV_PREFIX).lower()
        section = next((known for known in (*SECTIONS, *DOTTED_OPTIONS) if name.startswith(f"{known}_")), None)
        if new := new_name(name, separator="_"):
            renamed[variable] = f"{ENV_PREFIX}{new.upper()}"
        elif section:
            option = name.removeprefix(f"{section}_")
            found.setdefault(section, {})[option.replace("_", ".") if section in DOTTED_OPTIONS else option] = value
        elif name in Settings.model_fields.keys() - SECTIONS.keys() - OPTIONS:
            found[name] = value
        else:
            raise SettingsError(
                f"The variable {variable} sets nothing: {_did_you_mean(name, Settings.model_fields)}",
                "Correct or unset it. Options of Spark and of its Kafka source can be given in a file or by --set.",
            )
    _refuse_old_names(renamed)
    return found


def _from_overrides(overrides: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for override in overrides:
        name, equals, value = override.partition("=")
        section, dot, option = name.partition(".")
        if not equals:
            raise SettingsError(f"--set {override} has no value.", "Write --set NAME=VALUE.")
        if section == "spark" and dot:
            found.setdefault("spark", {})[name] = value
        elif dot:
            found.setdefault(section, {})[option] = value
        else:
            found[name] = value
    return found
