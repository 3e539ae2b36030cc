"""One set of Kafka options for two clients."""

from pathlib import Path

import pytest

from lineproof.local.endpoints import client_options
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster, KafkaUnavailable, spark_options


def test_credentials_become_a_jaas_line_for_java() -> None:
    options = spark_options(
        {
            "bootstrap.servers": "a:1",
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": "me",
            "sasl.password": 'a"b\\c',
            "ssl.ca.location": "ca.pem",
        }
    )
    assert options["sasl.mechanism"] == "SCRAM-SHA-512"
    assert options["sasl.jaas.config"] == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a\\"b\\\\c";'
    )
    assert (options["ssl.truststore.type"], options["ssl.truststore.location"]) == ("PEM", "ca.pem")
    assert "sasl.password" not in options


def test_plain_login_module() -> None:
    options = spark_options({"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p"})
    assert "plain.PlainLoginModule" in options["sasl.jaas.config"]


def test_without_any_broker_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(KafkaUnavailable, match="lineproof up"):
        client_options(Settings(home=tmp_path))


def test_unknown_options_are_refused_by_name() -> None:
    with pytest.raises(KafkaUnavailable, match=r"bootstrap\.server"):
        KafkaCluster({"bootstrap.servers": "127.0.0.1:1", "bootstrap.server": "x"})
