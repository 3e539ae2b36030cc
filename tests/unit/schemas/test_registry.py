"""The client of a schema registry, and emitting without waiting for it."""

import time
from pathlib import Path

import pytest

from lineproof.producers.emitter import Emitter
from lineproof.producers.transports.kafka import kafka_transport
from lineproof.schemas.avro import newest
from lineproof.schemas.registry import InvalidRegistryOptions, Registry, RegistryUnavailable
from lineproof.settings import SettingsError, load
from tests import backend as backends
from tests.backend import Reply
from tests.delivery import wait_for
from tests.registry import USER, running


def test_a_schema_is_registered_once() -> None:
    with running() as server:
        registry = Registry(server.options)
        assert registry.registered("events") == {}
        envelope = registry.register("events", newest("envelope"))
        assert registry.register("events", newest("envelope")) == envelope
        assert registry.register("runs", newest("run")) != envelope
        assert [*server.subjects] == ["events-value", "runs-value"]
        # Another process finds the registered schemas.
        assert Registry(server.options).registered("events") == {envelope: newest("envelope")}
        assert Registry(server.options).envelope_ids("events") == {envelope: 1}
    assert registry.register("events", newest("envelope")) == envelope, "ids are cached"


def test_a_registry_that_refuses_or_does_not_answer_is_an_error() -> None:
    with running() as server:
        with pytest.raises(RegistryUnavailable, match=r"401.*\n.*Grant access"):
            Registry({**server.options, "basic.auth.user.info": "wrong:one"}).register("t", newest("run"))
        server.refuses = 409
        with pytest.raises(RegistryUnavailable, match=r"t-value/versions \(409\).*incompatible"):
            Registry(server.options).register("t", newest("run"))
    with pytest.raises(RegistryUnavailable, match="does not answer"):
        Registry(server.options).register("t", newest("run"))


def test_no_redirect_is_followed() -> None:
    """The other host does not see the password."""
    with running() as server, backends.running() as first, backends.running() as other:
        first.judge = lambda request: Reply(307, headers={"Location": f"{other.url}{request.path}"})
        with pytest.raises(RegistryUnavailable, match="redirect"):
            Registry({**server.options, "url": first.url}).register("t", newest("run"))
        assert other.requests == []


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"url": "registry:8081"}, "begins with https"),
        ({"basic.auth.user.info": USER}, "begins with https"),
        ({"url": "http://user:secret@registry"}, "basic.auth.user.info"),
        ({"url": "http://registry", "basic.auth.info": USER}, "Did you mean basic.auth.user.info"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, str], match: str) -> None:
    with pytest.raises(InvalidRegistryOptions, match=match) as caught:
        Registry(options)
    assert "secret" not in str(caught.value)
    with pytest.raises(SettingsError, match="schema_registry"):
        load(None, [f"schema_registry.{name}={value}" for name, value in options.items()], {})


def test_settings_come_from_the_environment_and_are_masked() -> None:
    environ = {
        "LINEPROOF_SCHEMA_REGISTRY_URL": "https://registry:8081",
        "LINEPROOF_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO": USER,
    }
    settings = load(None, (), environ)
    assert settings.schema_registry == {"url": "https://registry:8081", "basic.auth.user.info": USER}
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(settings.masked())


def test_no_emission_waits_for_a_registry_that_hangs(tmp_path: Path) -> None:
    """Each call takes less than 5 ms, and the events wait in the spool."""
    with running() as server:
        server.hangs.set()
        transport = kafka_transport(
            {"bootstrap.servers": "127.0.0.1:1"}, "t", tmp_path, registry=Registry(server.options)
        )
        emitter = Emitter(transport, "tests")
        emitter.run("warm-up").start()
        durations = []
        for _ in range(300):
            began = time.perf_counter()
            emitter.run("job").start()
            durations.append(time.perf_counter() - began)
        assert sorted(durations)[-10] < 0.005
        wait_for(lambda: server.requests > 0)
        assert transport.stats.pending == 301
        assert not emitter.close(0)
