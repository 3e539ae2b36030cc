"""`/me`: who is asking, so that the page knows whether it needs a key."""

from typing import Any

from fastapi import APIRouter, Request

from lineproof.producers.gateway.access import WHO_AM_I
from lineproof.producers.gateway.key_ring import KeyRing
from lineproof.producers.gateway.keys import Key, Role
from lineproof.producers.gateway.routes import KEY


def me_routes(keys: KeyRing) -> APIRouter:
    """The route. It answers without a key, too."""
    router = APIRouter(tags=["keys"])

    @router.get(WHO_AM_I, summary="The key of this request, and what it may do")
    async def me(request: Request) -> dict[str, Any]:
        """`key` is null without a key; then `roles` is empty if keys are required, and has all roles if not."""
        key: Key | None = request.scope.get(KEY)
        roles = [role for role in Role if (key.may(role) if key else not keys.are_required)]
        return {"key": key.name if key else None, "roles": roles, "keys_required": keys.are_required}

    return router
