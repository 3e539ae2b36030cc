"""A certificate chain on disk: one certificate per JSON line, synced before it is returned.

The file holds the whole chain and not only its head. A certificate that was issued but never sent, because the process
was killed in between, can still be sent from it.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedRandom
from pathlib import Path

from lineproof.schemas.certificates import GENESIS, Certificate, verify
from lineproof.schemas.errors import LineproofError


class BrokenChain(LineproofError):
    """The chain cannot be continued as it is."""


class NoChain(LineproofError):
    """A certificate, but no chain to append it to."""


class Chain:
    """The certificate chain of one writer."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._verified_bytes = 0
        self._head = GENESIS

    def certificates(self) -> list[Certificate]:
        """All certificates, oldest first."""
        with self._locked() as file:
            file.seek(0)
            return parse_lines(file.read(), str(self._file))

    def append(self, certificate: Certificate) -> Certificate:
        """Append a certificate to the chain, and return it sealed, after it is synced to disk.

        A certificate with a previous hash must have that of the newest certificate: otherwise the chain would fork.
        """
        with self._locked() as file:
            if certificate.previous_hash not in ("", self._head):
                raise BrokenChain(
                    f"The certificate {certificate.certificate_id} would fork the chain in {self._file}: it follows "
                    f"{certificate.previous_hash}, but the newest is {self._head}.",
                    "Leave previous_hash empty: the chain sets it.",
                )
            sealed = replace(certificate, previous_hash=self._head).sealed()
            file.write(json.dumps(sealed.to_dict(), sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._verified_bytes, self._head = file.tell(), sealed.chain_hash
            return sealed

    @contextmanager
    def _locked(self) -> Iterator[BufferedRandom]:
        """Lock the file, so that two processes cannot fork the chain, and verify what others have appended."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self._file.exists()
        with self._file.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if is_new:
                _sync_directory(self._file.parent)
            self._catch_up(file)
            yield file

    def _catch_up(self, file: BufferedRandom) -> None:
        file.seek(self._verified_bytes)
        content = file.read()
        whole, newline, torn = content.rpartition(b"\n")
        if torn:
            # The writer was killed: that certificate was never returned.
            file.truncate(self._verified_bytes + len(content) - len(torn))
        added = parse_lines(whole, str(self._file))
        if finding := verify(added, previous=self._head):
            raise BrokenChain(
                f"The chain in {self._file} is broken at {finding.certificate_id}: {finding.fault.value}.",
                "Restore the file: a chain that does not verify cannot be continued.",
            )
        self._verified_bytes += len(whole + newline)
        self._head = added[-1].chain_hash if added else self._head


def parse_lines(content: bytes, name: str) -> list[Certificate]:
    """Parse the certificates of a file, one per line."""
    chain = []
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            document = json.loads(line)
            if not isinstance(document, Mapping):
                raise TypeError("not an object")  # noqa: TRY301
            chain.append(Certificate.from_dict(document))
        except (ValueError, TypeError) as error:
            raise BrokenChain(
                f"{name}:{number} is not a certificate: {error}.", "Write one JSON object per line."
            ) from error
    return chain


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
