"""`certificates`: every distinct certificate that any event carried, with its hash computed again.

A certificate is all that it says, its own hash included: a copy that was altered is another row beside the genuine one.
Every column is a function of the certificate, so that the table is a set. How certificates hang together is the view
`certificate_checks`: it changes when a missing link arrives.
"""

from collections.abc import Callable
from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import CERTIFICATES
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch, issued_at

TABLE = Table(
    contract=CERTIFICATES,
    comment="Every distinct fidelity certificate, with its hash computed again.",
    cluster_by=("chain_hash",),
    stats_columns=("issued_at",),
    schema=(
        "certificate_key STRING NOT NULL COMMENT 'SHA-256 over all that the certificate says'",
        "certificate_id STRING COMMENT 'as its writer named it'",
        "run_id STRING COMMENT 'the run it vouches for'",
        "issued_at TIMESTAMP COMMENT 'the timestamp as a time; null if it is none'",
        "chain_hash STRING COMMENT 'as the certificate says'",
        "computed_hash STRING COMMENT 'as it should be; null if something is missing'",
        "previous_hash STRING COMMENT 'chain_hash of the certificate before it; zeros in the first'",
        "algorithm STRING COMMENT 'how the hash is computed'",
        "source_state_hash STRING COMMENT 'of what was read'",
        "target_state_hash STRING COMMENT 'of what was written'",
        "contract_version STRING COMMENT 'of the contract it was made under'",
        "timestamp STRING COMMENT 'as it was hashed'",
        "invariants ARRAY<STRUCT<name: STRING, passed: BOOLEAN>> COMMENT 'what was checked, and whether it held'",
        "materiality_thresholds ARRAY<STRUCT<name: STRING, value: STRING>> COMMENT 'what is too little to matter'",
    ),
)

DOMAIN, ALGORITHM = "lineproof/certificate", "lineproof-sha256-1"


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
    """The hash that `lineproof.schemas.certificates.chain_hash` computes, over the same bytes."""
    invariants, thresholds = column("invariants"), column("materiality_thresholds")
    parts = [
        *(F.lit(DOMAIN), column("algorithm"), column("certificate_id")),
        *(column("source_state_hash"), column("target_state_hash"), column("contract_version")),
    ]
    tail = [column("timestamp"), column("run_id"), column("previous_hash")]
    passed = F.transform(
        invariants,
        lambda one: F.concat(
            _prefixed(one["name"]),
            _prefixed(F.when(one["passed"], "pass").when(~one["passed"], "fail")),
        ),
    )
    limits = F.transform(thresholds, lambda one: F.concat(_prefixed(one["name"]), _prefixed(one["value"])))
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
    """What a certificate's own hash says of it, such that the worst comes first in the alphabet."""
    return (
        F.when(~certificate["algorithm"].eqNullSafe(F.lit(ALGORITHM)), "foreign algorithm")
        .when(chain_hash(certificate.getField) == certificate["chain_hash"], "intact")
        .otherwise("altered")
    )


def write(batch: Batch, writer: BatchWriter) -> None:
    """Add the batch's certificates that the table does not have. The same certificate has the same time."""
    if batch.certificates == 0:
        return
    known = writer.read(TABLE).where(batch.issue_times).select("certificate_key")
    writer.append(TABLE, certificates(batch.events).join(known, "certificate_key", "left_anti"))


def _prefixed(text: Column) -> Column:
    """`LENGTH:TEXT`, with the length in bytes."""
    return F.concat(F.octet_length(text).cast("string"), F.lit(":"), text)


def _joined(texts: Column) -> Column:
    """All texts in a row; null where one of them is, which `concat_ws` alone would pass over."""
    return F.when(~F.exists(texts, lambda one: one.isNull()), F.array_join(texts, ""))
