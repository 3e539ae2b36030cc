"""Remove secrets and personal data from texts, and keep what helps debugging.

By value: text that looks like a credential or like personal data is replaced, wherever it is. By key: the value of a
key such as password or token is replaced, whatever it looks like. Exception types, file names and line numbers stay.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_TEXT = 8_000
"""Longer texts lose their middle: messages begin with what happened, and stack traces end with it."""

_SENSITIVE_WORDS = (
    r"pass(?:word|wd|phrase)?|pwd|secret|token|api[_.-]?key|access[_.-]?key|account[_.-]?key|private[_.-]?key|"
    r"credentials?|authorization|auth|cookie|session[_.-]?id|connection[_.-]?string|signature|sig|jaas|key[_.-]?pem"
)
_SECRET_KEY = re.compile(rf"(?:^|[^a-z])(?:{_SENSITIVE_WORDS})(?:$|[^a-z])", re.IGNORECASE)

_Replacement = str | Callable[[re.Match[str]], str]


def _if_valid(is_valid: Callable[[str], bool], mark: str) -> Callable[[re.Match[str]], str]:
    return lambda match: mark if is_valid(re.sub(r"[ -]", "", match[0])) else match[0]


def _is_card_number(digits: str) -> bool:
    """The Luhn check, so that row counts and offsets are not replaced."""
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(number - 9 * (number > 9) for number in doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """The checksum of ISO 13616."""
    return 15 <= len(text) <= 34 and int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1


# The order matters: long and certain patterns first, then short ones that may match a part of them.
_PATTERNS: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL), "[key]"),
    (re.compile(r"\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?"), "[token]"),
    (re.compile(r"(?<=://)[^\s/@'\"]+@"), "[secret]@"),
    (re.compile(r"\b(bearer|basic|digest|negotiate)\s+[\w.~+/=-]{6,}", re.IGNORECASE), r"\1 [secret]"),
    (
        re.compile(
            rf"((?:(?<![a-z])|(?<=(?-i:[a-z]))(?=(?-i:[A-Z])))(?:{_SENSITIVE_WORDS})(?:[_.-]?(?:id|value|key))?)"
            r"(['\"]?\s*(?:=>|[:=]|\bis\b|\bIDENTIFIED\s+BY\b)\s*)"
            r"(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|(?!\[)[^\s,;&)}\]]+)",
            re.IGNORECASE,
        ),
        r"\1\2[secret]",
    ),
    (re.compile(r"(\bIDENTIFIED\s+BY\s+)(?:'[^']*'|\"[^\"]*\"|\S+)", re.IGNORECASE), r"\1[secret]"),
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), "[secret]"),
    (re.compile(r"\b(?:gh[pousr]|github_pat|glpat|xox[abprs]|sk|pk|rk|hf|dapi|npm|pypi)[_-][\w-]{12,}"), "[secret]"),
    (re.compile(r"\bAIza[\w-]{30,}"), "[secret]"),
    (re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "[email]"),
    (re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), _if_valid(_is_iban, "[iban]")),
    (re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)"), _if_valid(_is_card_number, "[card]")),
    (re.compile(r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]*\d)"), "[ip]"),
    (re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}(?![\w:])"), "[ip]"),
    (
        re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){1,6}:(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,5})?(?![\w:])"),
        "[ip]",
    ),
    (re.compile(r"((?:/home|/Users|[A-Za-z]:\\+Users)[/\\]+)[^/\\\s\"':]+"), r"\1[user]"),
)


def sanitise(text: str, limit: int = MAX_TEXT) -> str:
    """The text without secrets and personal data, about `limit` characters long at most."""
    # Shorten last: half of a secret does not match its pattern.
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return _shortened(text, limit)


def sanitise_value(value: Any, limit: int = MAX_TEXT) -> Any:
    """Sanitise any JSON value, by key and by value."""
    if isinstance(value, str):
        return sanitise(value, limit)
    if isinstance(value, Mapping):
        return {
            sanitise(str(name), limit): "[secret]" if is_secret_key(str(name)) else sanitise_value(member, limit)
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [sanitise_value(member, limit) for member in value]
    return value


def is_secret_key(name: str) -> bool:
    """Whether a key names a secret: dbPassword, api-key, X-Auth-Token, but not author or tokenCount."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return bool(_SECRET_KEY.search(words)) and not re.search(r"count|limit|total|usage|type", words, re.IGNORECASE)


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
