"""A load of files, as the settings configure it: `lineproof load`."""

from collections.abc import Sequence

from lineproof.local.endpoints import client_options, registry_of
from lineproof.settings import Settings
from lineproof.topics.event_files import require_readable
from lineproof.topics.load import Load


def load_files(files: Sequence[str], settings: Settings) -> Load:
    """A load of these files to the events topic. A file that cannot be read is refused before anything is sent."""
    require_readable(files)
    registry = registry_of(settings)
    return Load(
        files,
        client_options(settings),
        settings.topics.event_topics.first,
        settings.spool_path,
        settings.home,
        registry,
    )
