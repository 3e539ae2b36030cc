"""The wire format, without Spark."""

import dataclasses
import hashlib
import uuid

import pytest

from lineproof.schemas.envelope import WRITER_SCHEMAS, Envelope, UnreadableRecord, decode, event_id
from lineproof.schemas.reasons import Reason
from tests.events import payload, sealed

# A record as version 0.1.0 wrote it. It must stay readable for ever, because archives are kept.
V1_RECORD = bytes.fromhex(
    "c301058e152e6986f95b024863393333646236652d623433382d383866332d396536382d3465386361643437313261330002"
    "0a535441525480a08ff284eba406024830313839303030302d303030302d373030302d383030302d30303030303030303030"
    "3031020a746573747302066a6f6200003268747470733a2f2f6578616d706c652e636f6d2f74657374734830303030303030"
    "302d303030302d303030302d303030302d30303030303030303030303106000a706c61696e8a087b226576656e7454797065"
    "223a20225354415254222c20226576656e7454696d65223a2022323032362d30312d33315431303a30303a30302e3030305a"
    "222c202270726f6475636572223a202268747470733a2f2f6578616d706c652e636f6d2f7465737473222c2022736368656d"
    "6155524c223a202268747470733a2f2f6f70656e6c696e656167652e696f2f737065632f322d302d322f4f70656e4c696e65"
    "6167652e6a736f6e232f24646566732f52756e4576656e74222c202272756e223a207b2272756e4964223a20223031383930"
    "3030302d303030302d373030302d383030302d303030303030303030303031227d2c20226a6f62223a207b226e616d657370"
    "616365223a20227465737473222c20226e616d65223a20226a6f62227d2c2022696e70757473223a205b7b226e616d657370"
    "616365223a20226462222c20226e616d65223a2022696e227d5d2c20226f757470757473223a205b7b226e616d6573706163"
    "65223a20226462222c20226e616d65223a20226f7574222c20226f7574707574466163657473223a207b226f757470757453"
    "746174697374696373223a207b225f70726f6475636572223a202268747470733a2f2f6578616d706c652e636f6d222c2022"
    "5f736368656d6155524c223a202268747470733a2f2f6578616d706c652e636f6d2f73222c2022726f77436f756e74223a20"
    "377d7d7d5d7d"
)


def test_single_object_encoding_round_trips() -> None:
    envelope = sealed(payload(), sequence=5, trace_id="0af7651916cd43dd8448eb211c80319c")
    value = envelope.encode()
    assert value[:2] == b"\xc3\x01"
    assert value[2:10] == WRITER_SCHEMAS[1].fingerprint
    assert decode(value) == envelope


def test_confluent_framing_round_trips_with_a_known_schema_id() -> None:
    envelope = sealed(payload())
    value = envelope.encode(schema_id=7)
    assert value[:5] == b"\x00\x00\x00\x00\x07"
    assert decode(value, {7: 1}) == envelope


def test_plain_json_is_its_own_payload() -> None:
    assert decode(payload()) == payload()


def test_a_v1_record_stays_readable() -> None:
    envelope = decode(V1_RECORD)
    assert isinstance(envelope, Envelope)
    assert envelope.envelope_version == 1
    assert envelope.payload == payload()
    assert envelope.event_id == event_id(payload())
    assert (envelope.emitter_id, envelope.sequence) == (str(uuid.UUID(int=1)), 3)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, Reason.EMPTY_VALUE),
        (b"", Reason.EMPTY_VALUE),
        (b"\xff\xfe", Reason.UNKNOWN_FRAMING),
        (b"\x00\x00", Reason.UNKNOWN_FRAMING),
        (b"\xc3\x01" + bytes(8) + b"x", Reason.UNKNOWN_SCHEMA_FINGERPRINT),
        (sealed(payload()).encode(schema_id=8), Reason.UNKNOWN_SCHEMA_ID),
        (sealed(payload()).encode()[:-9], Reason.AVRO_UNDECODABLE),
        (sealed(payload()).encode()[:12], Reason.AVRO_UNDECODABLE),
    ],
)
def test_unreadable_records_have_a_reason(value: bytes | None, reason: Reason) -> None:
    with pytest.raises(UnreadableRecord) as caught:
        decode(value, {7: 1})
    assert caught.value.reason is reason


def test_event_id_is_a_uuid_v8_of_the_payload_hash() -> None:
    identifier = uuid.UUID(event_id(b"payload"))
    assert identifier.version == 8
    assert identifier.variant == uuid.RFC_4122
    assert identifier.hex[:12] == hashlib.sha256(b"payload").hexdigest()[:12]


def test_envelope_fields_follow_the_schema() -> None:
    import json
    from importlib.resources import files

    schema = json.loads(files("lineproof.schemas").joinpath("envelope.avsc").read_text())
    assert [field["name"] for field in schema["fields"]] == [field.name for field in dataclasses.fields(Envelope)]
