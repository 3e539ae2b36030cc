"""API keys: one file with their hashes, and who may do what with them.

A key is 256 random bits, so a plain SHA-256 is enough: nobody can try them out.
"""

import fcntl
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta, timezone
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError
from lineproof.schemas.principals import namespace_regex

PREFIX = "lpk_"
"""Lets scanners for secrets recognise a key."""
ALL_NAMESPACES = ("*",)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")


class Role(str, Enum):
    """What a key is for."""

    WRITE = "write"
    READ = "read"
    ADMIN = "admin"
    """Both, and SQL over HTTP."""


class InvalidKeys(LineproofError):
    """A key that cannot be made or found, or a file of keys that cannot be read."""


@dataclass(frozen=True)
class Key:
    """A key as the file has it: everything but the key."""

    name: str
    sha256: str
    role: Role
    namespaces: tuple[str, ...]
    rate: float | None
    created_at: str
    expires_at: str | None

    def may(self, role: Role) -> bool:
        """Whether the key has this role."""
        return self.role in (role, Role.ADMIN)

    def may_use(self, namespace: str) -> bool:
        """Whether the key is for this namespace."""
        return self.has_all_namespaces or bool(re.fullmatch(namespace_regex(self.namespaces), namespace))

    @property
    def has_all_namespaces(self) -> bool:
        """Whether the key is bound to no namespaces."""
        return "*" in self.namespaces

    @property
    def has_expired(self) -> bool:
        """Whether the key is past its end."""
        return self.expires_at is not None and datetime.fromisoformat(self.expires_at) <= datetime.now(timezone.utc)


class KeysFile:
    """The file of the keys. Only its owner can read it, and it is replaced in one step."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Key]:
        """All keys. None if there is no file."""
        try:
            text = self.path.read_text()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InvalidKeys(
                f"The keys in {self.path} cannot be read: {error.strerror}.", "Give this user access to it."
            ) from error
        try:
            return [_key(entry) for entry in json.loads(text)["keys"]]
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidKeys(
                f"{self.path} is not a file of keys: {error!r}.",
                "Restore it, or remove it and add the keys again with `lineproof keys add`.",
            ) from error

    def add(
        self,
        name: str,
        role: Role,
        namespaces: Sequence[str] = ALL_NAMESPACES,
        rate: float | None = None,
        valid_for: timedelta | None = None,
    ) -> str:
        """Make a key, and return it. It can never be shown again."""
        if not _NAME.fullmatch(name):
            raise InvalidKeys(
                f"{name!r} cannot be the name of a key.", "Use up to 100 letters, digits, dots, dashes, underscores, @."
            )
        text = PREFIX + secrets.token_urlsafe(32)
        now = datetime.now(timezone.utc).replace(microsecond=0)
        key = Key(
            name=name,
            sha256=digest(text),
            role=role,
            namespaces=tuple(namespaces) or ALL_NAMESPACES,
            rate=rate,
            created_at=now.isoformat(),
            expires_at=(now + valid_for).isoformat() if valid_for else None,
        )
        with self._locked():
            keys = self.read()
            if any(known.name == name for known in keys):
                raise InvalidKeys(f"There is a key {name} already.", "Revoke it first, or choose another name.")
            self._write([*keys, key])
        return text

    def revoke(self, name: str) -> None:
        """Remove a key. Servers notice at the next request."""
        with self._locked():
            keys = self.read()
            left = [key for key in keys if key.name != name]
            if len(left) == len(keys):
                raise InvalidKeys(f"There is no key {name}.", "`lineproof keys list` shows all keys.")
            self._write(left)

    def _write(self, keys: Sequence[Key]) -> None:
        text = json.dumps({"keys": [asdict(key) for key in keys]}, indent=2)
        draft = self.path.with_name(f"{self.path.name}.new")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Two commands at once must not lose a key."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_name(f"{self.path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def digest(text: str) -> str:
    """What the file has instead of the key."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def find(keys: Sequence[Key], text: str) -> Key | None:
    """The key with this text. Compares with all of them, and takes as long for a wrong one as for a right one."""
    wanted, found = digest(text), None
    for key in keys:
        if hmac.compare_digest(key.sha256, wanted):
            found = key
    return found


def _key(entry: dict[str, Any]) -> Key:
    key = replace(Key(**entry), role=Role(entry["role"]), namespaces=tuple(entry["namespaces"]))
    if key.expires_at is not None and datetime.fromisoformat(key.expires_at).tzinfo is None:
        raise ValueError(f"expires_at of {key.name} has no time zone")
    return key
