"""Write small files so that a crash leaves either the old or the new content."""

import os
from pathlib import Path


def write_atomically(file: Path, text: str) -> None:
    """Write the file, flush it to disk, and put it in place in one step."""
    draft = file.with_name(f"{file.name}.tmp")
    with draft.open("w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
