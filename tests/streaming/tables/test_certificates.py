"""Certificates: Spark computes the same hashes and verdicts as the offline verifier, in any order of arrival."""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

from pyspark.sql import DataFrame, SparkSession

from lineproof.schemas.certificates import GENESIS, Certificate, ChainFault, chain_hash, faults
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import open_batch
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.tables import archive, certificates
from tests.certificates import draft, facet_of
from tests.events import document
from tests.streaming.curated import curated, run_sql
from tests.streaming.records import records

SEED = 1
TEXTS = ("plain", "ünïcödé ✓", "3:abc", "", " blank ", 'quote " and \\ and \n', "😀")


def chain(chance: Random, length: int) -> list[Certificate]:
    links: list[Certificate] = []
    for number in range(length):
        certificate = replace(
            draft(chance.getrandbits(32)),
            source_state_hash=chance.choice(TEXTS),
            contract_version=chance.choice(TEXTS),
            invariants={text or "empty": chance.random() < 0.5 for text in chance.sample(TEXTS, chance.randint(0, 4))},
            materiality_thresholds={text: chance.choice(TEXTS) for text in chance.sample(TEXTS, chance.randint(0, 4))},
            timestamp=f"2026-01-31T10:00:{number:02}Z",
            previous_hash=links[-1].chain_hash if links else GENESIS,
        )
        links.append(certificate.sealed())
    return links


def faulty_chains(chance: Random) -> list[Certificate]:
    """Chains with certificates that are missing, altered, forked, out of order and of another algorithm."""
    issued: list[Certificate] = []
    for _ in range(12):
        links = chain(chance, 12)
        issued += links[:-1] if chance.random() < 0.3 else links
        victim = chance.choice(links[1:-1])
        match chance.randint(0, 5):
            case 0:
                issued.remove(victim)
            case 1:
                issued[issued.index(victim)] = replace(victim, target_state_hash="changed")
            case 2:
                issued.append(replace(victim, contract_version="another").sealed())
            case 3:
                issued.append(replace(victim, algorithm="md5", certificate_id="odd").sealed())
            case 4:
                early = replace(draft(1), timestamp="2020-01-01T00:00:00Z", previous_hash=links[-1].chain_hash)
                issued += [early.sealed(), *([] if links[-1] in issued else [links[-1]])]
            case _:
                issued.append(replace(victim, run_id="copied elsewhere"))
    return issued


def event(certificate: Certificate, key: str = "cdme_fidelityCertificate") -> bytes:
    run = {"runId": str(uuid.uuid4()), "facets": {key: facet_of(certificate)}}
    return json.dumps(document(run=run), ensure_ascii=False).encode()


def content(certificate: Certificate) -> str:
    return json.dumps(asdict(certificate), sort_keys=True)


def test_hashes_and_verdicts_are_those_of_the_offline_verifier(spark: SparkSession, tmp_path: Path) -> None:
    chance = Random(SEED)
    issued = list({content(certificate): certificate for certificate in faulty_chains(chance)}.values())
    keys = ["cdme_fidelityCertificate", "cdme.fidelityCertificate"]
    repeated = chance.choices(issued, k=len(issued) // 3)
    values = [event(certificate, chance.choice(keys)) for certificate in [*issued, *repeated]]
    values += [event(replace(issued[0], certificate_id="broken")).replace(b'"algorithm"', b'"algorythm"')]
    values += [
        event(replace(issued[0], certificate_id="list")).replace(b'"invariants": {', b'"invariants": [], "x": {')
    ]
    chance.shuffle(values)
    cut = len(values) // 2
    store = curated(spark, str(tmp_path), [values[:cut], values[cut:]])

    expected = {
        content(certificate): (chain_hash(certificate), fault.value if fault else "genuine")
        for certificate, fault in zip(issued, faults(issued), strict=True)
    }
    query = "SELECT * FROM certificate_checks"
    [checks] = run_sql(spark, store, query)
    by_spark = [row.asDict(recursive=True) for row in checks.collect()]
    answer = Tables(str(tmp_path)).query(query)
    by_duckdb = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    for checked in (by_spark, by_duckdb):
        invalid = {
            row["certificate_id"]: row["verdict"] for row in checked if row["certificate_id"] in ("broken", "list")
        }
        assert invalid == {"broken": "unknown algorithm", "list": "altered"}
        found = {
            content(as_certificate(row)): (row["computed_hash"], row["verdict"])
            for row in checked
            if row["certificate_id"] not in invalid
        }
        assert found == expected


def test_every_fault_occurs_in_the_faulty_chains() -> None:
    assert set(faults(faulty_chains(Random(SEED)))) == {None, *ChainFault} - {ChainFault.TRUNCATED}


TIMES = ("2026-01-31T10:00:00.123999Z", "-0044-03-15", "+12000-01-01T00:00:00Z", "yesterday")


def facts_of(spark: SparkSession, issued: Sequence[Certificate]) -> DataFrame:
    """The facts of the events, from offset 0 on."""
    return facts(archive.archive(records(spark, list(map(event, issued)))), {}).localCheckpoint()


def write_batches(root: Path, *batches: DataFrame) -> Iterator[DataFrame]:
    """Write each batch to this table alone, and yield the table after it."""
    for number, found in enumerate(batches):
        writer = BatchWriter(found.sparkSession, str(root), "tests", number)
        if number == 0:
            create_table(found.sparkSession, writer.path(certificates.TABLE), certificates.TABLE)
        with open_batch(found) as batch:
            certificates.write(batch, writer)
        yield writer.read(certificates.TABLE)


def at(time: str) -> Certificate:
    return replace(draft(1), timestamp=time).sealed()


def test_a_repeated_certificate_is_found_whatever_its_timestamp(spark: SparkSession, tmp_path: Path) -> None:
    """Each certificate is in its own file, and files are skipped by these times."""
    found = facts_of(spark, list(map(at, TIMES)))
    batches = [found.where(f"offset = {number}") for number in range(len(TIMES)) for _ in range(2)]
    sizes = [table.count() for table in write_batches(tmp_path, *batches)]
    assert sizes == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_batch_reads_only_files_that_can_hold_its_certificates(spark: SparkSession, tmp_path: Path) -> None:
    found = facts_of(spark, [at("2024-01-31T10:00:00Z"), at("2026-01-31T10:00:00Z")])
    batches = write_batches(tmp_path, found.where("offset = 0"), found.where("offset = 1"))
    next(batches)
    for file in (tmp_path / certificates.TABLE.name).glob("*.parquet"):
        file.unlink()
    assert next(batches).where("issued_at > '2025-01-01'").count() == 1


def as_certificate(row: dict[str, object]) -> Certificate:
    members = {name: row[name] for name in Certificate.__dataclass_fields__}
    invariants = {check["name"]: check["passed"] for check in row["invariants"]}  # type: ignore[attr-defined]
    thresholds = {limit["name"]: limit["value"] for limit in row["materiality_thresholds"]}  # type: ignore[attr-defined]
    return Certificate(**{**members, "invariants": invariants, "materiality_thresholds": thresholds})  # type: ignore[arg-type]
