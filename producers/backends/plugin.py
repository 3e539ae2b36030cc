"""The contract of a lineage backend, and how an installed one is found."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from lineproof.producers.transports.config import HttpConfig, InvalidTransport, KafkaConfig, TransportConfig
from lineproof.schemas.errors import LineproofError, nearest

GROUP = "lineproof.lineage_backends"
"""The group of entry points. The name of an entry point is the name of the provider."""


class UnknownBackend(LineproofError):
    """No installed package provides this lineage backend."""

    exit_code = 2


class BrokenPlugin(LineproofError):
    """A plugin cannot be loaded, or does not keep the contract."""


class InvalidBackendConfig(LineproofError):
    """The configuration of a lineage backend has missing, unknown or invalid options."""

    exit_code = 2


class LineageBackendPlugin(ABC):
    """A backend that events can be sent to. Its class is the object of an entry point in the group `GROUP`."""

    @abstractmethod
    def get_transport_config(self, config: Mapping[str, Any]) -> TransportConfig:
        """Where events go, and how: an HttpConfig or a KafkaConfig.

        `config` is what the user wrote under `plugins.lineage_backend.config`. Raise InvalidBackendConfig if it is
        not valid. Hosts and keys come from `config`, never from code.
        """


def transport_config(provider: str, config: Mapping[str, Any]) -> TransportConfig:
    """The transport of an installed backend."""
    plugin = _load(_entry_point(provider))
    try:
        found = plugin.get_transport_config(config)
    except LineproofError as error:
        if isinstance(error, InvalidTransport | InvalidBackendConfig):
            raise InvalidBackendConfig(f"The lineage backend {provider}: {error.what}", error.remedy) from error
        raise
    except Exception as error:
        raise BrokenPlugin(
            f"The lineage backend {provider} fails on its configuration: {error!r}.",
            "Check plugins.lineage_backend.config, and ask the author of the plugin.",
        ) from error
    if not isinstance(found, HttpConfig | KafkaConfig):
        raise BrokenPlugin(
            f"The lineage backend {provider} asks for the transport {getattr(found, 'type', found)!r}.",
            "This release sends by `http` and `kafka`: get_transport_config returns an HttpConfig or a KafkaConfig.",
        )
    return found


def installed_backends() -> list[str]:
    """The names of all installed backends."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def check_options(config: Mapping[str, Any], required: Collection[str], optional: Collection[str]) -> None:
    """Refuse a configuration with missing or unknown options, and name all of them."""
    known = (*required, *optional)
    problems = [f"{name} is not set" for name in required if not config.get(name)]
    for name in config:
        if name not in known:
            closest = nearest(str(name), known)
            problems.append(f"{name} is unknown" + (f" (did you mean {closest}?)" if closest else ""))
    if problems:
        raise InvalidBackendConfig(f"{'; '.join(problems)}.", f"Its options: {', '.join(known)}.")


def _entry_point(provider: str) -> EntryPoint:
    found = {point.value: point for point in entry_points(group=GROUP, name=provider)}
    if not found:
        raise UnknownBackend(
            f"No installed package provides the lineage backend {provider!r}.",
            f"Installed: {', '.join(installed_backends()) or 'none'}. Set plugins.lineage_backend.provider to one, or "
            "install the package that provides it.",
        )
    if len(found) > 1:
        raise BrokenPlugin(
            f"Several packages provide the lineage backend {provider!r}: {', '.join(found)}.", "Uninstall all but one."
        )
    return next(iter(found.values()))


def _load(point: EntryPoint) -> LineageBackendPlugin:
    try:
        plugin = point.load()()
    except Exception as error:
        raise BrokenPlugin(
            f"The lineage backend {point.name} ({point.value}) cannot be loaded: {error!r}.",
            "Install a version of its package that works with this release.",
        ) from error
    if not isinstance(plugin, LineageBackendPlugin):
        raise BrokenPlugin(
            f"The lineage backend {point.name} ({point.value}) is no LineageBackendPlugin.",
            "Its class must derive from lineproof.producers.backends.LineageBackendPlugin.",
        )
    return plugin
