"""One set of Kafka options for two clients."""

import re
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from lineproof.local.endpoints import client_options
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster, KafkaUnavailable
from lineproof.topics.java_options import UntranslatableOption, spark_options


def test_credentials_become_a_jaas_line_for_java(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("the CA")
    options = spark_options(
        {
            "bootstrap.servers": "a:1",
            "security.protocol": "sasl_ssl",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": "me",
            "sasl.password": 'a"b\\c',
            "ssl.ca.location": str(ca),
            "ssl.endpoint.identification.algorithm": "none",
            "enable.ssl.certificate.verification": "true",
            "linger.ms": "20",
            "fetch.message.max.bytes": "1000",
        }
    )
    assert options["sasl.mechanism"] == "SCRAM-SHA-512"
    assert options["sasl.jaas.config"] == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a\\"b\\\\c";'
    )
    assert (options["ssl.truststore.type"], options["ssl.truststore.certificates"]) == ("PEM", "the CA")
    assert options["security.protocol"] == "SASL_SSL"
    assert options["ssl.endpoint.identification.algorithm"] == ""
    assert (options["linger.ms"], options["max.partition.fetch.bytes"]) == ("20", "1000")
    assert not options.keys() & {"sasl.password", "sasl.username", "ssl.ca.location"}


def test_plain_login_module() -> None:
    options = spark_options({"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p"})
    assert "plain.PlainLoginModule" in options["sasl.jaas.config"]


KEY = "-----BEGIN PRIVATE KEY-----\nkey\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize("kind", ["location", "pem"])
def test_client_certificates_become_texts(tmp_path: Path, kind: str) -> None:
    texts = {"ssl.ca": "the CA", "ssl.certificate": "the certificate", "ssl.key": KEY}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    given = {f"{name}.{kind}": text if kind == "pem" else str(tmp_path / name) for name, text in texts.items()}
    options = spark_options({"security.protocol": "SSL", "ssl.key.password": "secret", **given})
    options.pop("max.request.size")
    assert options == {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": "the CA",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "the certificate",
        "ssl.keystore.key": KEY,
        "ssl.key.password": "secret",
    }


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
@pytest.mark.parametrize("password", ["", "secret"])
def test_keys_become_readable_for_java(form: PrivateFormat, password: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = rsa.generate_private_key(65537, 2048)
    encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    given = {
        "ssl.certificate.pem": "c",
        "ssl.key.pem": key.private_bytes(Encoding.PEM, form, encryption).decode(),
        **({"ssl.key.password": password} if password else {}),
    }
    options = spark_options(given)
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    assert options["ssl.keystore.key"] == plain
    assert "ssl.key.password" not in options

    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    if given["ssl.key.pem"] == plain:
        assert spark_options(given) == options
    else:
        with pytest.raises(UntranslatableOption) as refused:
            spark_options(given)
        assert "openssl pkcs8 -topk8 -nocrypt" in refused.value.remedy


def test_a_pkcs12_store_keeps_its_file() -> None:
    options = spark_options({"ssl.keystore.location": "client.p12", "ssl.keystore.password": "secret"})
    stored = {name: value for name, value in options.items() if name.startswith("ssl.")}
    assert stored == {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": "client.p12",
        "ssl.keystore.password": "secret",
    }


OIDC = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": 'se"cret',
    "sasl.oauthbearer.token.endpoint.url": "https://login/token",
}


def test_oauth_client_credentials() -> None:
    more = {"sasl.oauthbearer.scope": "kafka", "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,identityPoolId=p"}
    options = spark_options({**OIDC, **more})
    package = "org.apache.kafka.common.security.oauthbearer"
    assert options["sasl.jaas.config"] == (
        f'{package}.OAuthBearerLoginModule required clientId="me" clientSecret="se\\"cret" scope="kafka" '
        'extension_logicalCluster="lkc-1" extension_identityPoolId="p";'
    )
    assert options["sasl.login.callback.handler.class"] == f"{package}.OAuthBearerLoginCallbackHandler"
    assert options["sasl.oauthbearer.token.endpoint.url"] == "https://login/token"
    alias = {name.replace("r.client.", "r.client.credentials.client."): value for name, value in OIDC.items()}
    assert spark_options(alias) == spark_options({**OIDC, "sasl.oauthbearer.grant.type": "client_credentials"})


def test_kerberos() -> None:
    given = {"sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "kafka"}
    options = spark_options({**given, "sasl.kerberos.keytab": "/k", "sasl.kerberos.principal": "me@REALM"})
    module = "com.sun.security.auth.module.Krb5LoginModule required"
    assert options["sasl.jaas.config"] == (
        f'{module} useKeyTab="true" storeKey="true" keyTab="/k" principal="me@REALM";'
    )
    assert options["sasl.kerberos.service.name"] == "kafka"
    assert spark_options(given)["sasl.jaas.config"] == f'{module} useTicketCache="true";'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ssl.cipher.suites": "AES"}, r"kafka\.ssl\.cipher\.suites.*broker"),
        ({"enable.ssl.certificate.verification": "false"}, r"certificate\.verification.*always checks"),
        ({"ssl.crl.location": "x"}, r"ssl\.crl\.location"),
        ({"https.ca.pem": "x"}, r"https\.ca\.pem.*token endpoint"),
        ({"ssl.ca.location": "/nowhere.pem"}, r"/nowhere\.pem of kafka\.ssl\.ca\.location"),
        ({"ssl.certificate.pem": "c"}, r"ssl\.key\.location is missing"),
        ({"ssl.key.pem": KEY}, r"ssl\.certificate\.location is missing"),
        ({"ssl.certificate.pem": "c", "ssl.key.pem": KEY.replace("PRI", "RSA PRI")}, r"ssl\.key\.password"),
        ({"ssl.keystore.location": "client.p12"}, r"ssl\.keystore\.password"),
        ({"sasl.mechanism": "PLAIN", "sasl.username": "u"}, r"sasl\.password"),
        ({"sasl.mechanism": "DIGEST-MD5"}, "SCRAM-SHA-512"),
        ({"sasl.mechanism": "OAUTHBEARER"}, "oidc"),
        ({name: value for name, value in OIDC.items() if "endpoint" not in name}, r"token\.endpoint\.url"),
        ({**OIDC, "sasl.oauthbearer.grant.type": "jwt-bearer"}, r"grant\.type.*client_credentials"),
        ({**OIDC, "sasl.oauthbearer.assertion.file": "x"}, r"assertion\.file"),
        ({"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p", "sasl.new": "x"}, r"kafka\.sasl\.new"),
    ],
)
def test_what_cannot_be_translated_is_refused_by_name(options: dict[str, str], message: str) -> None:
    with pytest.raises(UntranslatableOption) as refused:
        spark_options(options)
    assert re.search(message, f"{refused.value.what} {refused.value.remedy}")


def test_without_any_broker_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(KafkaUnavailable, match="lineproof up"):
        client_options(Settings(home=tmp_path))


def test_unknown_options_are_refused_by_name() -> None:
    with pytest.raises(KafkaUnavailable, match=r"bootstrap\.server"):
        KafkaCluster({"bootstrap.servers": "127.0.0.1:1", "bootstrap.server": "x"})
