"""200 secrets in messages, stack traces, SQL and facet values: all are removed, and what helps debugging stays."""

import json
import random
import string
import time
from typing import Any

import pytest

from lineproof.schemas.sanitise import MAX_TEXT, is_secret_key, sanitise, sanitise_value

RANDOM = random.Random(17)


def characters(alphabet: str, length: int) -> str:
    return "".join(RANDOM.choices(alphabet, k=length))


def word() -> str:
    return characters(string.ascii_lowercase, 8)


def opaque() -> str:
    """A secret that no pattern matches by itself."""
    return characters(string.ascii_letters + string.digits, 20)


def card() -> str:
    digits = characters(string.digits, 15)
    total = sum((n := int(d) * (2 - place % 2)) - 9 * (n > 9) for place, d in enumerate(digits))
    number = digits + str(-total % 10)
    return RANDOM.choice([number, " ".join(number[i : i + 4] for i in range(0, 16, 4))])


def iban() -> str:
    account = characters(string.digits, 18)
    return f"DE{98 - int(account + '131400') % 97:02}{account}"


# (the secret, a text that contains it)
SHAPED: dict[str, Any] = {
    "e-mail": lambda: (s := f"{word()}.{word()}@{word()}.org", f"no user {s}"),
    "card": lambda: (s := card(), f"charge of {s} refused"),
    "iban": lambda: (s := iban(), f"transfer to {s} failed"),
    "ip": lambda: (s := ".".join(str(RANDOM.randint(1, 255)) for _ in range(4)), f"refused by {s}:5432"),
    "ipv6": lambda: (s := ":".join(f"{RANDOM.randint(4096, 65535):x}" for _ in range(8)), f"refused by {s}"),
    "home": lambda: (s := word(), f'File "/home/{s}/etl/job.py", line 3, in load'),
    "windows home": lambda: (s := word(), f'File "C:\\Users\\{s}\\job.py", line 3'),
    "URL": lambda: (s := opaque(), f"cannot reach postgresql://etl:{s}@db.internal:5432/prod"),
    "bearer": lambda: (s := opaque(), f"GET /v1 -H 'Authorization: Bearer {s}'"),
    "JWT": lambda: (s := f"eyJ{opaque()}.{opaque()}.{opaque()}", f"rejected {s}"),
    "PEM": lambda: (s := opaque(), f"-----BEGIN RSA PRIVATE KEY-----\n{s}\n-----END RSA PRIVATE KEY-----"),
    "AWS key": lambda: (s := "AKIA" + characters(string.ascii_uppercase + string.digits, 16), f"key {s} is unknown"),
    "GitHub token": lambda: (s := f"ghp_{opaque()}{opaque()}", f"remote: {s} expired"),
    "option": lambda: (s := opaque(), f"kafka {{'sasl.password': '{s}', 'acks': 'all'}}"),
    "assignment": lambda: (s := opaque(), f"DB_PASSWORD={s} python job.py"),
    "JSON": lambda: (s := opaque(), json.dumps({"user": "etl", "apiKey": s})),
    "query string": lambda: (s := opaque(), f"GET https://api.example.com/v1?access_token={s}&page=2"),
    "SQL": lambda: (s := opaque(), f"CREATE USER etl IDENTIFIED BY '{s}'"),
    "SQL option": lambda: (s := opaque(), f"CREATE USER MAPPING OPTIONS (user 'etl', password = '{s}')"),
    "camel case": lambda: (s := opaque(), f"Config(dbPassword={s}, retries=3)"),
    "words": lambda: (s := opaque(), f"the password is {s}"),
}
SECRETS = [(kind, *make()) for kind, make in SHAPED.items() for _ in range(10)]


def test_there_are_200_secrets() -> None:
    assert len(SECRETS) >= 200


@pytest.mark.parametrize(("kind", "secret", "text"), SECRETS, ids=[kind for kind, _, _ in SECRETS])
def test_secrets_are_removed(kind: str, secret: str, text: str) -> None:
    trace = f'Traceback:\n  File "job.py", line 7, in main\nValueError: {text}\n'
    assert secret not in sanitise(text)
    assert secret not in sanitise(trace)
    assert secret not in json.dumps(sanitise_value({"facet": {"sql": f"SELECT 1 -- {text}", "list": [text]}}))


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\n  File \"/srv/etl/job.py\", line 42, in load\nKeyError: 'weight'",
        "psycopg.errors.UndefinedColumn: column b.weight does not exist LINE 1: SELECT b.weight FROM b",
        "expected 1234567890123456 rows, got 1234567890123455",
        "run 01890000-0000-7000-8000-000000000001 at 2026-01-31T10:00:00.123456Z",
        "SELECT author, token_count FROM books WHERE session > 3",
        "version 1.2.3 of pandas is older than 2.0",
        "sha256:9b691c3b17c1523382062ada9bbac0e8a3a8221fc96639913297c5b9c8c0fb4d",
        "dict::get failed at std::map<int, int>::at",
    ],
)
def test_what_helps_debugging_stays(text: str) -> None:
    assert sanitise(text) == text


@pytest.mark.parametrize("name", ["password", "dbPassword", "api_key", "X-Auth-Token", "aws.secret.access.key", "pwd"])
def test_keys_that_name_secrets(name: str) -> None:
    assert is_secret_key(name)
    assert sanitise_value({name: 12345}) == {name: "[secret]"}


@pytest.mark.parametrize("name", ["author", "tokenCount", "maxTokens", "passed", "key", "compass", "secretary"])
def test_keys_that_do_not_name_secrets(name: str) -> None:
    assert sanitise_value({name: 7}) == {name: 7}


def test_a_secret_where_the_text_is_cut_is_removed() -> None:
    key = "A" * 64
    block = "-----BEGIN PRIVATE KEY-----\n" + f"{key}\n" * 1000 + "-----END PRIVATE KEY-----"
    assert key not in sanitise("x" * MAX_TEXT + block + "y" * MAX_TEXT)


def test_long_texts_keep_their_ends() -> None:
    shortened = sanitise("begin " + "x" * 1_000_000 + " end")
    assert len(shortened) < MAX_TEXT + 60
    assert shortened.startswith("begin ")
    assert shortened.endswith(" end")
    assert "characters left out" in shortened


@pytest.mark.parametrize("character", ["a", "1", " ", "=", "'", "1 ", "a.", ":", "-", "eyJ"])
def test_no_text_takes_long(character: str) -> None:
    """Not a benchmark: this takes less than a second; a pattern with quadratic backtracking would take hours."""
    began = time.monotonic()
    sanitise(character * 200_000)
    sanitise("password " + character * MAX_TEXT + "!")
    assert time.monotonic() - began < 120
