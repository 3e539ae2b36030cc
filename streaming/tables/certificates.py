"""`certificates`: every distinct certificate that any event carried, with its hash computed again.

A certificate is identified by its whole content, including its own hash: an altered copy is a second row next to the
genuine one. Every column is a function of the certificate, so the table is a set. The links between certificates are in
the view `certificate_checks`, because they change when a missing certificate arrives.
"""

from collections.abc import Callable
from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.certificates import ALGORITHM, DOMAIN
from lineproof.schemas.tables import CERTIFICATES
from lineproof.schemas.verdicts import (
    CERTIFICATE_ALTERED,
    CERTIFICATE_INTACT,
    CERTIFICATE_UNKNOWN_ALGORITHM,
    HASH_VERDICTS,
)
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch, issued_at
from lineproof.streaming.stages.merge_rules import first_of

TABLE = Table(
    contract=CERTIFICATES,
    comment="Every distinct fidelity certificate, with its hash computed again.",
    cluster_by=("chain_hash",),
    stats_columns=("issued_at",),
    schema=(
        "certificate_key STRING NOT NULL COMMENT 'SHA-256 of the whole certificate'",
        "certificate_id STRING COMMENT 'its name, given by its writer'",
        "run_id STRING COMMENT 'the run that it is about'",
        "issued_at TIMESTAMP COMMENT 'the timestamp as a time; null if it cannot be read as a time'",
        "chain_hash STRING COMMENT 'its hash, as stated in the certificate'",
        "computed_hash STRING COMMENT 'its hash, computed again; null if a field is missing'",
        "previous_hash STRING COMMENT 'chain_hash of the previous certificate; zeros in the first'",
        "algorithm STRING COMMENT 'id of the hash algorithm'",
        "source_state_hash STRING COMMENT 'hash of the data that was read'",
        "target_state_hash STRING COMMENT 'hash of the data that was written'",
        "contract_version STRING COMMENT 'version of the contract that it was made under'",
        "timestamp STRING COMMENT 'when it was issued: the text that was hashed'",
        "invariants ARRAY<STRUCT<name: STRING, passed: BOOLEAN>> COMMENT 'the checks and whether they passed'",
        "materiality_thresholds ARRAY<STRUCT<name: STRING, value: STRING>> COMMENT 'smaller differences are ignored'",
    ),
)

WORST_VERDICT = first_of(HASH_VERDICTS)
"""The rule that merges the verdicts on several certificates."""


def certificates(events: DataFrame) -> DataFrame:
    """Rows of `certificates` from the facts of events."""
    certificate = F.col("certificate")
    return (
        events.where(certificate.isNotNull())
        .select(F.sha2(F.to_json(certificate), 256).alias("certificate_key"), certificate)
        .dropDuplicates(["certificate_key"])
        .select("certificate_key", "certificate.*", issued_at(certificate).alias("issued_at"))
        .withColumn("computed_hash", _computed_hash())
        .select(*TABLE.columns)
    )


@cache
def _computed_hash() -> Column:
    return chain_hash(F.col)


def chain_hash(column: Callable[[str], Column]) -> Column:
    """`lineproof.schemas.certificates.chain_hash` as a Spark expression over the same bytes."""
    invariants, thresholds = column("invariants"), column("materiality_thresholds")
    parts = [
        *(F.lit(DOMAIN), column("algorithm"), column("certificate_id")),
        *(column("source_state_hash"), column("target_state_hash"), column("contract_version")),
    ]
    tail = [column("timestamp"), column("run_id"), column("previous_hash")]
    passed = F.transform(
        invariants,
        lambda invariant: F.concat(
            _prefixed(invariant["name"]),
            _prefixed(F.when(invariant["passed"], "pass").when(~invariant["passed"], "fail")),
        ),
    )
    limits = F.transform(thresholds, lambda limit: F.concat(_prefixed(limit["name"]), _prefixed(limit["value"])))
    text = F.concat(
        *map(_prefixed, parts),
        _prefixed(F.size(invariants).cast("string")),
        _joined(passed),
        _prefixed(F.size(thresholds).cast("string")),
        _joined(limits),
        *map(_prefixed, tail),
    )
    return F.sha2(text, 256)


def verdict(certificate: Column) -> Column:
    """The verdict on a certificate's own hash. The view `certificate_hashes` has the same rule in SQL."""
    return (
        F.when(~certificate["algorithm"].eqNullSafe(F.lit(ALGORITHM)), CERTIFICATE_UNKNOWN_ALGORITHM)
        .when(chain_hash(certificate.getField) == certificate["chain_hash"], CERTIFICATE_INTACT)
        .otherwise(CERTIFICATE_ALTERED)
    )


def write(batch: Batch, writer: BatchWriter) -> None:
    """Append the certificates that are new. Copies have the same time, so only files of that time are searched."""
    if batch.certificates == 0:
        return
    known = (
        writer.read(TABLE).where(batch.issue_times.condition() | F.col("issued_at").isNull()).select("certificate_key")
    )
    writer.append(TABLE, certificates(batch.events).join(known, "certificate_key", "left_anti"))


def _prefixed(text: Column) -> Column:
    """`LENGTH:TEXT`, with the length in bytes."""
    return F.concat(F.octet_length(text).cast("string"), F.lit(":"), text)


def _joined(texts: Column) -> Column:
    """All texts in one; null if any of them is null (`array_join` alone skips nulls)."""
    return F.when(~F.exists(texts, lambda text: text.isNull()), F.array_join(texts, ""))
