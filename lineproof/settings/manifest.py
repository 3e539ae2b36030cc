"""The lineage backend that a data product chooses in its `manifest.yaml`. Everything else in that file is not ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lineproof.settings.interpolation import SettingsError, interpolate

MANIFEST_VARIABLE = "LINEPROOF_MANIFEST"
DEFAULT_MANIFEST = Path("manifest.yaml")


def from_manifest(environ: Mapping[str, str]) -> dict[str, Any]:
    """`plugins.lineage_backend` of the file that LINEPROOF_MANIFEST names, else of ./manifest.yaml if it has that."""
    named = environ.get(MANIFEST_VARIABLE)
    file = Path(named or DEFAULT_MANIFEST)
    if not named and not file.is_file():
        return {}
    try:
        text = file.read_text()
        if not named and "lineage_backend" not in text:  # it may be a manifest of another tool, in another language
            return {}
        document = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The manifest {file} cannot be read: {error}.", f"Correct {MANIFEST_VARIABLE}.") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"The manifest {file} is not valid YAML: {error}.", "Correct it.") from error
    plugins = document.get("plugins") if isinstance(document, dict) else None
    backend = plugins.get("lineage_backend") if isinstance(plugins, dict) else None
    return {"plugins": {"lineage_backend": _interpolated(backend, file, environ)}} if backend else {}


def _interpolated(value: Any, file: Path, environ: Mapping[str, str]) -> Any:
    """Variables are replaced after YAML is read, so that a secret cannot change the structure."""
    if isinstance(value, str):
        return interpolate(value, file, environ)
    if isinstance(value, dict):
        return {name: _interpolated(member, file, environ) for name, member in value.items()}
    if isinstance(value, list):
        return [_interpolated(member, file, environ) for member in value]
    return value
