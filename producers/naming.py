"""Names that stay the same from run to run: namespaces and jobs.

A name that changes cuts the lineage in two. What is wrong with one is therefore refused where it is written down.
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
    "a time counted from 1970, or an id": r"(?<!\d)(?:[12]\d{9}|\d{13,})(?!\d)",
    "the id of a run": r"(?<![0-9a-z])(?:(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}|0[0-9a-hjkmnp-tv-z]{25})(?![0-9a-z])"
    r"|[0-9a-f]{24,}",
}
_TRANSIENT_PATTERNS = {what: re.compile(pattern, re.IGNORECASE | re.ASCII) for what, pattern in _TRANSIENT.items()}


class InvalidName(LineproofError):
    """A name that would be refused elsewhere, leak a secret or change with every run."""

    exit_code = 2


class NamespaceMode(Enum):
    """How the namespace of the jobs is made: of the product, or of its domain and the product."""

    SIMPLE = "simple"
    CENTRALIZED = "centralized"
    DATA_MESH = "data_mesh"


def namespace(mode: NamespaceMode, product: str, domain: str | None = None) -> str:
    """The namespace of a product's jobs: `reports`, or in a data mesh `impact.reports`."""
    if mode is NamespaceMode.DATA_MESH:
        return f"{_namespace_part('domain', domain)}.{_namespace_part('product', product)}"
    if domain:
        raise InvalidName(
            f"A {mode.value} namespace is the product alone, so the domain {domain!r} has no place in it.",
            "Leave the domain out, or choose the mode data_mesh.",
        )
    return _namespace_part("product", product)


def check_namespace(text: str, mode: NamespaceMode) -> str:
    """The namespace, ready-made, as it came; refused where `namespace` would not have made it."""
    if mode is not NamespaceMode.DATA_MESH:
        return namespace(mode, text)
    domain, dot, product = text.partition(".")
    if text and not dot:
        raise InvalidName(f"The namespace {text!r} of a data mesh names no domain.", f"Write it as DOMAIN.{text}.")
    return namespace(mode, product, domain)


def _namespace_part(what: str, text: str | None) -> str:
    if not text:
        raise InvalidName(f"The {what} of the namespace is empty.", f"Name the {what}, for example impact-reports.")
    wrong = listed(_NOT_IN_NAMESPACES.findall(text))
    if not wrong:
        return text
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    better = re.sub(rf"(?:{_NOT_IN_NAMESPACES.pattern})+", "-", plain).strip("-") or "impact-reports"
    hint = " A dot only parts the domain from the product, once, in the mode data_mesh." if "." in text else ""
    raise InvalidName(
        f"The {what} {text!r} of the namespace contains {wrong}.",
        f"Use letters a to z, digits, dashes and underscores, for example {better}.{hint}",
    )


def check_job_name(name: str) -> str:
    """The name as it came, or refused where it would name a new job with every run. A bare year may stay."""
    checked_text("job name", name)
    if len(name) > MAX_JOB_NAME:
        raise InvalidName(
            f"The job name {name[:40]!r}… has {len(name)} characters.", f"Use at most {MAX_JOB_NAME} characters."
        )
    for what, pattern in _TRANSIENT_PATTERNS.items():
        if found := pattern.search(name):
            raise InvalidName(
                f"The job name {name!r} contains {found[0]!r}, which looks like {what}: each run would be a new job.",
                "Take it out of the name. A time belongs in the run's nominalTime facet, an id in a facet of its own.",
            )
    return name


def checked_text(what: str, text: str) -> str:
    """The text as it came; refused where it is empty or has what cannot be seen."""
    if not text or text != text.strip():
        problem = "begins or ends with a blank" if text else "is empty"
        raise InvalidName(f"The {what} {problem}.", f"Give the {what} as it is called, and nothing around it.")
    if not text.isprintable():
        hidden = listed([character for character in text if not character.isprintable()])
        raise InvalidName(f"The {what} contains {hidden}.", "Take out what cannot be seen in print.")
    return text


def listed(characters: list[str]) -> str:
    """Characters as an error names them, each once."""
    return ", ".join(map(repr, dict.fromkeys(characters)))
