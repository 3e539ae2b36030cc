"""Certificates: hashed again in Spark as in Python, and judged alike in any order of arrival (R45)."""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

from pyspark.sql import DataFrame, SparkSession

from lineproof.schemas.certificates import GENESIS, Certificate, Fault, chain_hash, faults
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import batch_of
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.tables import archive, certificates
from tests.certificates import draft, facet_of
from tests.events import document
from tests.streaming.curated import curated, run_sql
from tests.streaming.records import records

SEED = 1
TEXTS = ("plain", "ünïcödé ✓", "3:abc", "", " blank ", 'quote " and \\ and \n', "😀")


def chain(chance: Random, length: int) -> list[Certificate]:
    made: list[Certificate] = []
    for number in range(length):
        one = replace(
            draft(chance.getrandbits(32)),
            source_state_hash=chance.choice(TEXTS),
            contract_version=chance.choice(TEXTS),
            invariants={text or "empty": chance.random() < 0.5 for text in chance.sample(TEXTS, chance.randint(0, 4))},
            materiality_thresholds={text: chance.choice(TEXTS) for text in chance.sample(TEXTS, chance.randint(0, 4))},
            timestamp=f"2026-01-31T10:00:{number:02}Z",
            previous_hash=made[-1].chain_hash if made else GENESIS,
        )
        made.append(one.sealed())
    return made


def story(chance: Random) -> list[Certificate]:
    """Chains with links that are missing, altered, forked, out of order and of another algorithm."""
    told: list[Certificate] = []
    for _ in range(12):
        links = chain(chance, 12)
        told += links[:-1] if chance.random() < 0.3 else links
        victim = chance.choice(links[1:-1])
        match chance.randint(0, 5):
            case 0:
                told.remove(victim)
            case 1:
                told[told.index(victim)] = replace(victim, target_state_hash="changed")
            case 2:
                told.append(replace(victim, contract_version="another").sealed())
            case 3:
                told.append(replace(victim, algorithm="md5", certificate_id="odd").sealed())
            case 4:
                early = replace(draft(1), timestamp="2020-01-01T00:00:00Z", previous_hash=links[-1].chain_hash)
                told += [early.sealed(), *([] if links[-1] in told else [links[-1]])]
            case _:
                told.append(replace(victim, run_id="copied elsewhere"))
    return told


def event(certificate: Certificate, key: str = "cdme_fidelityCertificate") -> bytes:
    run = {"runId": str(uuid.uuid4()), "facets": {key: facet_of(certificate)}}
    return json.dumps(document(run=run), ensure_ascii=False).encode()


def content(certificate: Certificate) -> str:
    return json.dumps(asdict(certificate), sort_keys=True)


def test_hashes_and_verdicts_are_those_of_the_offline_verifier(spark: SparkSession, tmp_path: Path) -> None:
    chance = Random(SEED)
    told = list({content(one): one for one in story(chance)}.values())
    keys = ["cdme_fidelityCertificate", "cdme.fidelityCertificate"]
    values = [event(one, chance.choice(keys)) for one in [*told, *chance.choices(told, k=len(told) // 3)]]
    values += [event(replace(told[0], certificate_id="broken")).replace(b'"algorithm"', b'"algorythm"')]
    values += [event(replace(told[0], certificate_id="list")).replace(b'"invariants": {', b'"invariants": [], "x": {')]
    chance.shuffle(values)
    cut = len(values) // 2
    store = curated(spark, str(tmp_path), [values[:cut], values[cut:]])

    expected = {
        content(one): (chain_hash(one), fault.value if fault else "genuine")
        for one, fault in zip(told, faults(told), strict=True)
    }
    query = "SELECT * FROM certificate_checks"
    [checks] = run_sql(spark, store, query)
    by_spark = [row.asDict(recursive=True) for row in checks.collect()]
    answer = Tables(str(tmp_path)).query(query)
    by_duckdb = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    for checked in (by_spark, by_duckdb):
        odd = {row["certificate_id"]: row["verdict"] for row in checked if row["certificate_id"] in ("broken", "list")}
        assert odd == {"broken": "unknown algorithm", "list": "altered"}
        found = {
            content(as_certificate(row)): (row["computed_hash"], row["verdict"])
            for row in checked
            if row["certificate_id"] not in odd
        }
        assert found == expected


def test_every_fault_occurs_in_the_story() -> None:
    assert set(faults(story(Random(SEED)))) == {None, *Fault} - {Fault.TRUNCATED}


TIMES = ("2026-01-31T10:00:00.123999Z", "-0044-03-15", "+12000-01-01T00:00:00Z", "yesterday")


def facts_of(spark: SparkSession, told: Sequence[Certificate]) -> DataFrame:
    """The first one's record has the offset 0."""
    return facts(archive.archive(records(spark, list(map(event, told)))), {}).localCheckpoint()


def write_batches(root: Path, *batches: DataFrame) -> Iterator[DataFrame]:
    """To this table alone. Yields it after each."""
    for number, found in enumerate(batches):
        writer = BatchWriter(found.sparkSession, str(root), "tests", number)
        if number == 0:
            create_table(found.sparkSession, writer.path(certificates.TABLE), certificates.TABLE)
        with batch_of(found, found) as batch:
            certificates.write(batch, writer)
        yield writer.read(certificates.TABLE)


def at(time: str) -> Certificate:
    return replace(draft(1), timestamp=time).sealed()


def test_a_certificate_that_comes_again_is_found_whatever_time_it_states(spark: SparkSession, tmp_path: Path) -> None:
    """Each is in a file of its own, which is searched by these times."""
    found = facts_of(spark, list(map(at, TIMES)))
    ones = [found.where(f"offset = {number}") for number in range(len(TIMES))]
    sizes = [table.count() for table in write_batches(tmp_path, *(batch for one in ones for batch in (one, one)))]
    assert sizes == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_batch_looks_only_where_its_certificates_can_be(spark: SparkSession, tmp_path: Path) -> None:
    found = facts_of(spark, [at("2024-01-31T10:00:00Z"), at("2026-01-31T10:00:00Z")])
    batches = write_batches(tmp_path, found.where("offset = 0"), found.where("offset = 1"))
    next(batches)
    for file in (tmp_path / certificates.TABLE.name).glob("*.parquet"):
        file.unlink()
    assert next(batches).where("issued_at > '2025-01-01'").count() == 1


def as_certificate(row: dict[str, object]) -> Certificate:
    members = {name: row[name] for name in Certificate.__dataclass_fields__}
    invariants = {one["name"]: one["passed"] for one in row["invariants"]}  # type: ignore[attr-defined]
    thresholds = {one["name"]: one["value"] for one in row["materiality_thresholds"]}  # type: ignore[attr-defined]
    return Certificate(**{**members, "invariants": invariants, "materiality_thresholds": thresholds})  # type: ignore[arg-type]
