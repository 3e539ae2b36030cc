"""Small files that must be whole."""

import os
from pathlib import Path


def write_whole(file: Path, text: str) -> None:
    """Put a whole file there, or none, and have it on disk."""
    draft = file.with_name(f"{file.name}.tmp")
    with draft.open("w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
