"""Variables of the environment in the values of a file: `${NAME}`, and `${NAME:-default}`."""

import re
from collections.abc import Mapping
from pathlib import Path

from lineproof.schemas.errors import LineproofError

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


class SettingsError(LineproofError):
    """The settings are not valid."""

    exit_code = 2


def interpolate(text: str, file: Path, environ: Mapping[str, str]) -> str:
    """The text with the values of its variables. `file` is where it comes from, for the error."""

    def value(match: re.Match[str]) -> str:
        found = environ.get(match["name"], match["default"])
        if found is None:
            raise SettingsError(
                f"The settings file {file} uses ${{{match['name']}}}, which is not set.",
                f"Set the variable, or give a default: ${{{match['name']}:-…}}.",
            )
        return found

    return _VARIABLE.sub(value, text)
