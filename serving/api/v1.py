"""/api/lineproof/v1: all routes, by subject."""

from importlib import import_module
from importlib.util import find_spec

from fastapi import APIRouter

from lineproof.serving.api import entity_routes, proof_routes, runs_routes, search_routes, trust_routes

PREFIX = "/api/lineproof/v1"
_OTHERS = ("lineproof.serving.api.lineage_routes", "lineproof.serving.api.sql")


def router() -> APIRouter:
    """All routes of this version."""
    found = APIRouter(prefix=PREFIX)
    for part in (trust_routes, search_routes, runs_routes, entity_routes, proof_routes):
        found.include_router(part.router)
    for name in _OTHERS:
        if find_spec(name):
            found.include_router(import_module(name).router)
    return found
