"""Where events wait if nobody has named a directory: below the user's state directory, one directory per target."""

import os
import re
from hashlib import sha256
from pathlib import Path


def default_spool(name: str, *identity: str) -> Path:
    """The spool for one target. `name` makes it readable, `identity` tells targets apart that have the same name.

    Processes may share it only if they send to the same target: each of them delivers what the others left behind.
    Raises RuntimeError if the user has no home directory.
    """
    readable = re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-.")[:60]
    digest = sha256("\0".join(identity).encode()).hexdigest()[:12]
    return _state_home() / "lineproof" / "spool" / f"{readable}-{digest}"


def _state_home() -> Path:
    configured = Path(os.environ.get("XDG_STATE_HOME", ""))
    # The XDG specification: a relative path is ignored.
    return configured if configured.is_absolute() else Path.home() / ".local" / "state"
