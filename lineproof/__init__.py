"""lineproof: lineage you can prove."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineproof.connection import connect
    from lineproof.producers.run import current_run

__all__ = ["connect", "current_run"]

_MODULES = {"connect": "lineproof.connection", "current_run": "lineproof.producers.run"}


def __getattr__(name: str) -> Any:
    """Import on first use: the command line starts without the emitter, and the emitter without the command line."""
    from importlib import import_module

    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'lineproof' has no attribute {name!r}")
