"""Kafka client options for Spark's Java client, from those of librdkafka, which the settings use.

Most options have the same name and meaning in both clients. Those of authentication and encryption differ, so each of
them is either translated or refused: a connection that is less secure than configured must not be opened.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from lineproof.schemas.envelope import MAX_RECORD_BYTES
from lineproof.schemas.errors import LineproofError

_SECURITY = ("security.", "sasl.", "ssl.", "https.", "enable.sasl.", "enable.ssl.")
"""The first parts of options that are translated or refused, and never passed on as they are."""
_SAME = ("sasl.kerberos.service.name", "sasl.kerberos.min.time.before.relogin", "ssl.keystore.password")
_RENAMED = {
    "metadata.broker.list": "bootstrap.servers",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "queue.buffering.max.ms": "linger.ms",
    "compression.codec": "compression.type",
}
_SECURITY_PACKAGE = "org.apache.kafka.common.security"
_OIDC = "sasl.oauthbearer."
_CLIENT = f"{_OIDC}client.credentials."
_NO_CERTIFICATE_CHECK = "Java always checks the broker's certificate: set ssl.ca.location to the CA that signed it."
_ENDPOINT_CA = "Add the CA of the token endpoint to the trust store of Java, on all machines of the job."
_REMEDIES = {
    "enable.ssl.certificate.verification": _NO_CERTIFICATE_CHECK,
    "ssl.cipher.suites": "Java has other names for them: let the broker choose, with its own ssl.cipher.suites.",
    "https.ca.location": _ENDPOINT_CA,
    "https.ca.pem": _ENDPOINT_CA,
    f"{_OIDC}config": "Use sasl.oauthbearer.method: oidc, with a client id and a client secret.",
    f"{_OIDC}grant.type": "Use client_credentials, with a client id and a client secret.",
    "ssl.keystore.location": "Set ssl.keystore.password too, or use ssl.certificate.location and ssl.key.location.",
}


class UntranslatableOption(LineproofError):
    """A Kafka option of librdkafka that has no counterpart in Spark's Java client, or a file that Java cannot read."""

    exit_code = 2


def spark_options(options: Mapping[str, str]) -> dict[str, str]:
    """The same options for Spark's Java client."""
    left = dict(options)
    java = {**_protocol(left), **_login(left), **_trusted(left), **_certificate(left)}
    java |= {name: left.pop(name) for name in _SAME if name in left}
    for name in left:
        if name.startswith(_SECURITY):
            raise UntranslatableOption(
                f"The job cannot use kafka.{name}: Spark's Java client has no such option.",
                _REMEDIES.get(name, "Remove it, or use another way to authenticate (docs/configuration.md)."),
            )
        java[_RENAMED.get(name, name)] = left[name]
    java.setdefault("max.request.size", str(MAX_RECORD_BYTES))
    return java


def _protocol(left: dict[str, str]) -> dict[str, str]:
    """The protocol, in upper case for Java, and the checks of the broker's certificate."""
    java: dict[str, str] = {}
    if "security.protocol" in left:
        java["security.protocol"] = left.pop("security.protocol").upper()
    check = "ssl.endpoint.identification.algorithm"
    if check in left:
        java[check] = left.pop(check).lower().replace("none", "")
    if left.get("enable.ssl.certificate.verification", "").lower() == "true":
        del left["enable.ssl.certificate.verification"]
    return java


def _login(left: dict[str, str]) -> dict[str, str]:
    """The SASL mechanism with its credentials, as a line of JAAS configuration."""
    mechanisms = left.pop("sasl.mechanisms", None)
    mechanism = left.pop("sasl.mechanism", mechanisms)
    if not mechanism:
        return {}
    mechanism = mechanism.upper()
    logins: dict[str, Callable[[dict[str, str]], dict[str, str]]] = {
        "PLAIN": lambda options: _password_login("plain.PlainLoginModule", options),
        "SCRAM-SHA-256": lambda options: _password_login("scram.ScramLoginModule", options),
        "SCRAM-SHA-512": lambda options: _password_login("scram.ScramLoginModule", options),
        "OAUTHBEARER": _oidc_login,
        "GSSAPI": _kerberos_login,
    }
    if mechanism not in logins:
        raise UntranslatableOption(
            f"The job cannot use kafka.sasl.mechanism {mechanism}.", f"Use one of {', '.join(logins)}."
        )
    return {"sasl.mechanism": mechanism, **logins[mechanism](left)}


def _password_login(module: str, left: dict[str, str]) -> dict[str, str]:
    username, password = left.pop("sasl.username", None), left.pop("sasl.password", None)
    if username is None or password is None:
        raise UntranslatableOption(
            "A user name or a password is missing.", "Set sasl.username and sasl.password under `kafka`."
        )
    return _jaas(f"{_SECURITY_PACKAGE}.{module}", {"username": username, "password": password})


def _oidc_login(left: dict[str, str]) -> dict[str, str]:
    """The client credentials grant of OpenID Connect: Java fetches a token from the endpoint, and renews it."""
    if left.pop(f"{_OIDC}method", "default").lower() != "oidc":
        raise UntranslatableOption(
            "The job cannot use OAUTHBEARER without a token endpoint.",
            "Set sasl.oauthbearer.method to oidc, with a client id, a client secret and a token endpoint.",
        )
    if left.get(f"{_OIDC}grant.type", "").lower() == "client_credentials":
        del left[f"{_OIDC}grant.type"]
    client_id, secret = (
        left.pop(f"{_CLIENT}client.{part}", left.pop(f"{_OIDC}client.{part}", None)) for part in ("id", "secret")
    )
    endpoint = left.pop(f"{_OIDC}token.endpoint.url", None)
    if client_id is None or secret is None or endpoint is None:
        raise UntranslatableOption(
            "OAUTHBEARER needs a client id, a client secret and a token endpoint.",
            "Set sasl.oauthbearer.client.id, .client.secret and .token.endpoint.url under `kafka`.",
        )
    scope, extensions = left.pop(f"{_OIDC}scope", ""), left.pop(f"{_OIDC}extensions", "")
    fields = {"clientId": client_id, "clientSecret": secret, **({"scope": scope} if scope else {})}
    for pair in filter(None, map(str.strip, extensions.split(","))):
        name, _, value = pair.partition("=")
        fields[f"extension_{name.strip()}"] = value.strip()
    return {
        **_jaas(f"{_SECURITY_PACKAGE}.oauthbearer.OAuthBearerLoginModule", fields),
        "sasl.login.callback.handler.class": f"{_SECURITY_PACKAGE}.oauthbearer.OAuthBearerLoginCallbackHandler",
        f"{_OIDC}token.endpoint.url": endpoint,
    }


def _kerberos_login(left: dict[str, str]) -> dict[str, str]:
    """A key tab, which every executor needs under the same path; or else the ticket cache of `kinit`."""
    keytab, principal = left.pop("sasl.kerberos.keytab", None), left.pop("sasl.kerberos.principal", None)
    module = "com.sun.security.auth.module.Krb5LoginModule"
    if keytab is None or principal is None:
        return _jaas(module, {"useTicketCache": "true", **({"principal": principal} if principal else {})})
    return _jaas(module, {"useKeyTab": "true", "storeKey": "true", "keyTab": keytab, "principal": principal})


def _jaas(module: str, fields: Mapping[str, str]) -> dict[str, str]:
    pairs = " ".join(f"{name}={_quoted(value)}" for name, value in fields.items())
    return {"sasl.jaas.config": f"{module} required {pairs};"}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _trusted(left: dict[str, str]) -> dict[str, str]:
    """The CAs that may have signed the broker's certificate. As text: executors need no file."""
    location, pem = left.pop("ssl.ca.location", ""), left.pop("ssl.ca.pem", "")
    if location == "probe":
        location = ""  # Java's own trust store
    text = pem or (_text("ssl.ca.location", location) if location else "")
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": text} if text else {}


def _certificate(left: dict[str, str]) -> dict[str, str]:
    """The client's certificate and its key, as text: Java would want both in one file."""
    if "ssl.keystore.location" in left and "ssl.keystore.password" in left:
        return {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": left.pop("ssl.keystore.location")}
    certificate = _pem(left, "ssl.certificate")
    key = _pem(left, "ssl.key")
    password = left.pop("ssl.key.password", "")
    if not certificate and not key:
        return {}
    if not certificate or not key:
        missing = "ssl.key.location" if certificate else "ssl.certificate.location"
        raise UntranslatableOption(f"kafka.{missing} is missing.", "A client certificate needs its key.")
    if any(f"BEGIN {kind} PRIVATE KEY" in key for kind in ("RSA", "EC", "ENCRYPTED")):
        key, password = _readable_key(key, password), ""
    java = {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": certificate, "ssl.keystore.key": key}
    return {**java, **({"ssl.key.password": password} if password else {})}


def _readable_key(key: str, password: str) -> str:
    """A key that Java can read, without a password. Java knows neither PKCS #1 nor the encryption that OpenSSL uses."""
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as error:
        raise UntranslatableOption(
            "The job cannot read the key of kafka.ssl.key.location: Java needs PKCS #8 without a password.",
            "Install the Python package cryptography, which converts it; or use this key for both clients: "
            "openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW",
        ) from error
    try:
        loaded = serialization.load_pem_private_key(key.encode(), password.encode() if password else None)
    except (ValueError, TypeError) as error:
        raise UntranslatableOption(
            f"The key of kafka.ssl.key.location cannot be read: {error}", "Check the file and ssl.key.password."
        ) from error
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return loaded.private_bytes(serialization.Encoding.PEM, form, plain).decode()


def _pem(left: dict[str, str], name: str) -> str:
    location, pem = left.pop(f"{name}.location", ""), left.pop(f"{name}.pem", "")
    return pem or (_text(f"{name}.location", location) if location else "")


def _text(option: str, location: str) -> str:
    try:
        return Path(location).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UntranslatableOption(
            f"The file {location} of kafka.{option} cannot be read as PEM text: {error}.", "Name a PEM file."
        ) from error
