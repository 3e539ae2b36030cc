"""Keys: what the file has, who may do what, and how soon a change counts."""

import json
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lineproof.producers.gateway.key_ring import KeyRing
from lineproof.producers.gateway.keys import InvalidKeys, KeysFile, Role
from lineproof.producers.gateway.refusals import RequestRefused


@pytest.fixture
def file(tmp_path: Path) -> KeysFile:
    return KeysFile(tmp_path / "home" / "keys.json")


def status_of(call: Callable[[], object]) -> int:
    with pytest.raises(RequestRefused) as refused:
        call()
    return refused.value.status


def test_the_file_has_no_key_and_belongs_to_its_owner_alone(file: KeysFile) -> None:
    key = file.add("team-a", Role.WRITE, ["team-a*"], 5, timedelta(days=90))
    text = file.path.read_text()
    assert key not in text
    assert key.removeprefix("lpk_") not in text
    assert len(key) >= 43
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    (entry,) = json.loads(text)["keys"]
    assert (entry["name"], entry["role"], entry["namespaces"], entry["rate"]) == ("team-a", "write", ["team-a*"], 5)


def test_no_keys_are_needed_until_there_is_one(file: KeysFile) -> None:
    ring = KeyRing(file)
    assert ring.authenticate(None, Role.WRITE) is None
    key = file.add("a", Role.WRITE)
    assert status_of(lambda: ring.authenticate(None, Role.WRITE)) == 401
    found = ring.authenticate(key, Role.WRITE)
    assert found
    assert found.name == "a"


def test_a_key_is_refused_from_the_moment_it_is_revoked(file: KeysFile) -> None:
    first, second = file.add("a", Role.WRITE), file.add("b", Role.WRITE)
    ring = KeyRing(file)
    assert ring.authenticate(first, Role.WRITE)
    file.revoke("a")
    assert status_of(lambda: ring.authenticate(first, Role.WRITE)) == 401
    assert ring.authenticate(second, Role.WRITE)
    file.path.unlink()
    assert status_of(lambda: ring.authenticate(second, Role.WRITE)) == 401, "a removed file opens nothing"
    assert status_of(lambda: ring.authenticate(None, Role.WRITE)) == 401


def test_a_damaged_file_changes_nothing(file: KeysFile) -> None:
    key = file.add("a", Role.WRITE)
    ring = KeyRing(file)
    for text in ("{", '{"keys": [{"name": "x"}]}', "[]", '{"keys": 1}'):
        file.path.write_text(text)
        assert ring.authenticate(key, Role.WRITE), text
        with pytest.raises(InvalidKeys):
            file.read()


@pytest.mark.parametrize("wrong", ["x", "lpk_", "\x00", "é", "lpk_" + "A" * 43])
def test_a_wrong_key_is_refused(file: KeysFile, wrong: str) -> None:
    file.add("a", Role.WRITE)
    assert status_of(lambda: KeyRing(file).authenticate(wrong, Role.WRITE)) == 401


def test_the_role_decides(file: KeysFile) -> None:
    keys = {role: file.add(role.value, role) for role in Role}
    ring = KeyRing(file)
    allowed = {(Role.WRITE, Role.WRITE), (Role.READ, Role.READ), (Role.ADMIN, Role.WRITE), (Role.ADMIN, Role.READ)}
    for role, key in keys.items():
        for needed in (Role.WRITE, Role.READ):
            if (role, needed) in allowed:
                assert ring.authenticate(key, needed)
            else:
                assert status_of(lambda key=key, needed=needed: ring.authenticate(key, needed)) == 403  # type: ignore[misc]


def test_a_key_ends(file: KeysFile) -> None:
    key = file.add("a", Role.WRITE, valid_for=timedelta(seconds=-1))
    assert status_of(lambda: KeyRing(file).authenticate(key, Role.WRITE)) == 401


def test_patterns_match_whole_namespaces(file: KeysFile) -> None:
    file.add("a", Role.WRITE, ["team-a", "team-a.*"])
    (key,) = file.read()
    for namespace, may in (
        ("team-a", True),
        ("team-a.x\ny", True),
        ("team-ab", False),
        ("xteam-a", False),
        ("", False),
    ):
        assert key.may_use(namespace) == may, namespace


def test_the_rate_is_per_key_and_large_batches_are_on_credit(file: KeysFile, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    slow, other = file.add("slow", Role.WRITE, rate=10), file.add("other", Role.WRITE, rate=10)
    ring = KeyRing(file)
    key, other_key = ring.authenticate(slow, Role.WRITE), ring.authenticate(other, Role.WRITE)
    assert key
    assert other_key
    ring.charge(key, 30)
    with pytest.raises(RequestRefused) as refused:
        ring.charge(key, 1)
    assert (refused.value.status, refused.value.retry_after_s) == (429, 3)
    ring.charge(other_key, 1)
    now += 2.2
    ring.charge(key, 1)


def test_two_keys_cannot_have_one_name(file: KeysFile) -> None:
    file.add("a", Role.WRITE)
    with pytest.raises(InvalidKeys, match="already"):
        file.add("a", Role.READ)
    with pytest.raises(InvalidKeys, match="no key b"):
        file.revoke("b")
    for name in ("", "a b", "../x", "x" * 101, "a\nb"):
        with pytest.raises(InvalidKeys):
            file.add(name, Role.WRITE)
