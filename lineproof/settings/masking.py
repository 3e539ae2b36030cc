"""Settings without their secrets, for logs, tracebacks and `lineproof check`."""

from typing import Any

from lineproof.schemas.sanitise import is_secret_key

MASK = "******"


def mask_secrets(settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings, with every value replaced whose name is that of a secret, at any depth."""
    return {name: _masked(name, value) for name, value in settings.items()}


def _masked(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        # HTTP headers carry keys under any name.
        return dict.fromkeys(value, MASK) if name == "headers" else mask_secrets(value)
    return MASK if value and is_secret_key(str(name)) else value
