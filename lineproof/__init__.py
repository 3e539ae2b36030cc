"""lineproof: lineage you can prove."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineproof.connection import connect
    from lineproof.producers.run import current_run

__all__ = ["connect", "current_run"]

_HOMES = {"connect": "lineproof.connection", "current_run": "lineproof.producers.run"}


def __getattr__(name: str) -> Any:
    """Imported when used: the command line starts without the emitter, the emitter without the command line."""
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'lineproof' has no attribute {name!r}")
