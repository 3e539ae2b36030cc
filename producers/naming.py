"""Names of namespaces and jobs, which must be the same in every run.

A name that changes splits the lineage in two. An invalid name therefore raises where it is defined.
"""

import re
import unicodedata
from enum import Enum

from lineproof.schemas.errors import LineproofError

MAX_JOB_NAME = 512

_NOT_IN_NAMESPACES = re.compile(r"[^A-Za-z0-9_-]")

_YEAR, _MONTH, _DAY = r"(?<!\d)(?:19|20)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_TRANSIENT = {
    "a UUID": r"[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}",
    "a date": rf"{_YEAR}(?:{_MONTH}{_DAY}(?:[0-2]\d[0-5]\d)?|\.{_MONTH}\.{_DAY}"
    rf"|([-_/ ])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01]))(?!\d)",
    "a date, day or month first": rf"(?<!\d){_DAY}([-_./ ]){_DAY}\1(?:19|20)\d\d(?!\d)",
    "a month, quarter or week": rf"{_YEAR}(?:[-_/]{_MONTH}(?!\d)|[-_]?(?:q[1-4]|w[0-5]\d)(?![0-9a-z]))",
    "a time": r"(?<!\d)(?:[01]\d|2[0-3]):[0-5]\d(?!\d)",
    "a Unix timestamp or an id": r"(?<!\d)(?:[12]\d{9}|\d{13,})(?!\d)",
    "a run id": r"(?<![0-9a-z])(?:(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}|0[0-9a-hjkmnp-tv-z]{25})(?![0-9a-z])"
    r"|[0-9a-f]{24,}",
}
_TRANSIENT_PATTERNS = {what: re.compile(pattern, re.IGNORECASE | re.ASCII) for what, pattern in _TRANSIENT.items()}


class InvalidName(LineproofError):
    """A name that is not allowed, leaks a secret or changes with every run."""

    exit_code = 2


class NamespaceMode(Enum):
    """How the namespace of jobs is built: from the product, or from domain and product."""

    SIMPLE = "simple"
    CENTRALIZED = "centralized"
    DATA_MESH = "data_mesh"


def namespace(mode: NamespaceMode, product: str, domain: str | None = None) -> str:
    """Build the namespace of a product's jobs: `reports`, or in a data mesh `impact.reports`."""
    if mode is NamespaceMode.DATA_MESH:
        return f"{_namespace_part('domain', domain)}.{_namespace_part('product', product)}"
    if domain:
        raise InvalidName(
            f"A {mode.value} namespace is the product alone, so it cannot have the domain {domain!r}.",
            "Remove the domain, or use the mode data_mesh.",
        )
    return _namespace_part("product", product)


def check_namespace(text: str, mode: NamespaceMode) -> str:
    """Check a complete namespace and return it unchanged. Raises if `namespace` could not have built it."""
    if mode is not NamespaceMode.DATA_MESH:
        return namespace(mode, text)
    domain, dot, product = text.partition(".")
    if text and not dot:
        raise InvalidName(f"The namespace {text!r} of a data mesh has no domain.", f"Write it as DOMAIN.{text}.")
    return namespace(mode, product, domain)


def _namespace_part(what: str, text: str | None) -> str:
    if not text:
        raise InvalidName(f"The {what} of the namespace is empty.", f"Set the {what}, for example impact-reports.")
    wrong = quoted_list(_NOT_IN_NAMESPACES.findall(text))
    if not wrong:
        return text
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    suggestion = re.sub(rf"(?:{_NOT_IN_NAMESPACES.pattern})+", "-", plain).strip("-") or "impact-reports"
    hint = " Only the mode data_mesh allows a dot, one, between domain and product." if "." in text else ""
    raise InvalidName(
        f"The {what} {text!r} of the namespace contains {wrong}.",
        f"Use letters a to z, digits, dashes and underscores, for example {suggestion}.{hint}",
    )


def check_job_name(name: str) -> str:
    """Check a job name and return it unchanged. Raises if it would change with every run. A plain year is allowed."""
    checked_text("job name", name)
    if len(name) > MAX_JOB_NAME:
        raise InvalidName(
            f"The job name {name[:40]!r}… has {len(name)} characters.", f"Use at most {MAX_JOB_NAME} characters."
        )
    for what, pattern in _TRANSIENT_PATTERNS.items():
        if found := pattern.search(name):
            raise InvalidName(
                f"The job name {name!r} contains {found[0]!r}, which looks like {what}: each run would be a new job.",
                "Remove it from the name. Put a time in the run's nominalTime facet, and an id in a facet of its own.",
            )
    return name


def checked_text(what: str, text: str) -> str:
    """Check a text and return it unchanged. Raises if it is empty, padded or has characters that are not printable."""
    if not text or text != text.strip():
        problem = "begins or ends with whitespace" if text else "is empty"
        raise InvalidName(f"The {what} {problem}.", f"Give the {what} without whitespace around it.")
    if not text.isprintable():
        hidden = quoted_list([character for character in text if not character.isprintable()])
        raise InvalidName(f"The {what} contains {hidden}.", "Remove the characters that are not printable.")
    return text


def quoted_list(characters: list[str]) -> str:
    """The characters, quoted and separated by commas, each once."""
    return ", ".join(map(repr, dict.fromkeys(characters)))
