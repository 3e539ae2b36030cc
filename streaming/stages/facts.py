"""From a record's bytes to its facts: the narrow columns every table is made of, taken out of the JSON once."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.openlineage import EVENT_TYPES
from lineproof.schemas.reasons import Reason
from lineproof.schemas.tables import COORDINATES
from lineproof.streaming.stages import decode

_SEALED = ("event_id", "kind", "event_type", "event_time", "run_id", "job_namespace", "job_name")
"""What an envelope and its event both say."""
_OF_EMITTERS = ("emitter_id", "sequence", "trace_id")
_KEPT = (*_SEALED, *_OF_EMITTERS)
_FACTS = (
    *("kind", "event_type", "event_time", "run_id", "job_namespace", "job_name", "dataset_namespace", "dataset_name"),
    *("job_facets_hash", "dataset_facets_hash", "inputs", "outputs", "producer", "schema_url", "parent", "root"),
    *("nominal_start_at", "nominal_end_at", "error_message", "ledger", "certificate", "tests"),
)

# Every leaf is text: a number or an object in the wrong place must become a reason, not a null.
_LEDGER = "inputRecordCount STRING, processedCount STRING, filteredCount STRING, erroredCount STRING, balanced STRING"
_CERTIFICATE = (
    "certificateId STRING, algorithm STRING, sourceStateHash STRING, targetStateHash STRING, contractVersion STRING, "
    "invariants STRING, materialityThresholds STRING, timestamp STRING, runId STRING, previousHash STRING, "
    "chainHash STRING"
)
ASSERTIONS = "dataQualityAssertions"
TEST_FACETS = (ASSERTIONS, "dataQualityMetrics")
"""What is said of a dataset by who tests it: facets of an input that tell more than about its run."""

_IDENTITY = "namespace STRING, name STRING"
_PARENT = f"run: STRUCT<runId: STRING>, job: STRUCT<{_IDENTITY}>"
_STATISTICS = "STRUCT<rowCount: STRING, size: STRING>"
_EVENT = f"""
    eventTime STRING, eventType STRING, producer STRING, schemaURL STRING,
    run STRUCT<
        runId: STRING,
        facets: STRUCT<
            parent: STRUCT<{_PARENT}, root: STRUCT<{_PARENT}>>,
            nominalTime: STRUCT<nominalStartTime: STRING, nominalEndTime: STRING>,
            errorMessage: STRUCT<message: STRING>,
            test: STRING,
            cdme_accountingLedger: STRUCT<{_LEDGER}>,
            `cdme.accountingLedger`: STRUCT<{_LEDGER}>,
            cdme_fidelityCertificate: STRUCT<{_CERTIFICATE}>,
            `cdme.fidelityCertificate`: STRUCT<{_CERTIFICATE}>>>,
    job STRUCT<{_IDENTITY}, facets: STRING>,
    dataset STRUCT<{_IDENTITY}, facets: STRING>,
    inputs ARRAY<STRUCT<
        {_IDENTITY}, facets: STRING,
        inputFacets: STRUCT<inputStatistics: {_STATISTICS}, {": STRING, ".join(TEST_FACETS)}: STRING>>>,
    outputs ARRAY<STRUCT<
        {_IDENTITY}, facets: STRING, outputFacets: STRUCT<outputStatistics: {_STATISTICS}>>>,
    wrong_type STRING
"""
_JSON_OPTIONS = {
    "columnNameOfCorruptRecord": "wrong_type",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
_PARSER_DEPTH = 1000  # Jackson refuses to go deeper

_NO_COUNT = -1
"""What stands for a count that is none. Its record has a reason."""

_UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
_LOCAL_TIME = r"^[1-9]\d{3}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?"
_ZONE = r"([Zz]|[+-]\d{2}:?\d{2})$"
_UTC = r"^[1-9]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)$"
_COUNT = r"^\d+(\.\d+)?(E\d+)?$"


def facts(archived: DataFrame, schema_ids: Mapping[int, int]) -> DataFrame:
    """The facts of archived records: a row for each, with the first reason why it is not an event, or the event."""
    value, envelope = F.col("value"), F.col("envelope")
    opened = archived.withColumn("envelope", decode.envelope(value, schema_ids)).withColumns(
        {
            "payload": decode.payload(value, envelope),
            "reason": decode.unreadable(value, envelope, schema_ids),
            "envelope": F.when(envelope.isNotNull(), F.struct(*(envelope[name].alias(name) for name in _KEPT))),
        }
    )
    return (
        _with_facts(opened.withColumn("event_id", decode.event_id(F.col("payload"))))
        .withColumns(
            {
                "reason": F.coalesce("reason", _disagreement(envelope)),
                **{name: envelope[name] for name in _OF_EMITTERS},
            }
        )
        .withColumn("event", F.when(F.col("reason").isNull(), F.col("text")))
        .select(*COORDINATES, "timestamp", "reason", "event_id", *_FACTS, *_OF_EMITTERS, "event")
    )


def _disagreement(envelope: Column) -> Column:
    agrees = reduce(and_, (envelope[name].eqNullSafe(F.col(name)) for name in _SEALED))
    return F.when(envelope.isNotNull() & ~agrees, Reason.ENVELOPE_DISAGREES.value)


def _with_facts(records: DataFrame) -> DataFrame:
    """Add the facts of `payload`, whose hash is `event_id`, and the first reason why it is not an event.

    `reason` keeps what it held before where that is not null.
    """
    text = F.when(F.col("reason").isNull(), F.col("payload").cast("string"))
    parsed = records.withColumn("text", text).withColumns(
        {
            "is_strict_json": _is_strict_json(F.col("text"), F.col("event_id")),
            "event": F.from_json("text", _EVENT, _JSON_OPTIONS),
        }
    )
    event = F.col("event")
    run_facets = event["run"]["facets"]
    found = parsed.withColumns(
        {
            "has_wrong_type": event["wrong_type"].isNotNull(),
            "time": event["eventTime"],
            "kind": _kind(event),
            "event_type": F.when(event["run"].isNotNull(), event["eventType"]),
            "event_time": _instant(event["eventTime"]),
            "run_id": F.lower(event["run"]["runId"]),
            "job_namespace": event["job"]["namespace"],
            "job_name": event["job"]["name"],
            "dataset_namespace": event["dataset"]["namespace"],
            "dataset_name": event["dataset"]["name"],
            "job_facets_hash": _hash(event["job"]["facets"]),
            "dataset_facets_hash": _hash(event["dataset"]["facets"]),
            "inputs": F.transform(event["inputs"], _input),
            "outputs": F.transform(event["outputs"], _output),
            "producer": event["producer"],
            "schema_url": event["schemaURL"],
            "parent": _parent(run_facets["parent"]),
            "root": _parent(run_facets["parent"]["root"]),
            "nominal_start_at": _instant(run_facets["nominalTime"]["nominalStartTime"]),
            "nominal_end_at": _instant(run_facets["nominalTime"]["nominalEndTime"]),
            "error_message": run_facets["errorMessage"]["message"],
            "ledger": _ledger(_ledger_facet(event)),
            "certificate": _certificate(run_facets),
            "tests": _tests(event, F.col("text")),
        }
    )
    return found.withColumn("reason", F.coalesce("reason", _unparsable(), _not_an_event()))


def _as_first_of_two(text: Column, event_id: Column) -> Column:
    """Spark's parsers ignore whatever follows the first JSON value. So the text is parsed as the first
    element of an array whose second is the event id: no text contains its own hash, so that the second
    element is the id only if the text was one value, whole."""
    return F.concat(F.lit("["), text, F.lit(',"'), event_id, F.lit('"]'))


def _is_strict_json(text: Column, event_id: Column) -> Column:
    """One JSON value, in which no object has a key twice (the variant parser refuses those)."""
    pair = F.try_parse_json(_as_first_of_two(text, event_id))
    return F.coalesce(F.try_variant_get(pair, "$[1]", "string") == event_id, F.lit(False))


def _is_lenient_json(text: Column, event_id: Column) -> Column:
    pair = F.from_json(_as_first_of_two(text, event_id), "ARRAY<STRING>", _JSON_OPTIONS)
    return F.coalesce(F.get(pair, F.lit(1)) == event_id, F.lit(False))


def _unparsable() -> Column:
    text = F.col("text")
    return (
        F.when(text.isNull(), None)
        .when(~F.is_valid_utf8(text), Reason.INVALID_UTF8.value)
        .when(F.col("is_strict_json"), None)
        .when(_is_lenient_json(text, F.col("event_id")), Reason.DUPLICATE_JSON_KEY.value)
        .when(_depth(text) >= _PARSER_DEPTH, Reason.JSON_TOO_DEEP.value)
        .otherwise(Reason.INVALID_JSON.value)
    )


def _depth(text: Column) -> Column:
    """How deep the brackets nest. Those inside strings count too, which is near enough for text that no
    parser took."""
    brackets = F.split(F.regexp_replace(text, r"[^\[\]{}]+", ""), "")
    return F.aggregate(
        brackets,
        F.struct(F.lit(0).alias("now"), F.lit(0).alias("most")),
        lambda depth, bracket: F.struct(
            (depth["now"] + _step(bracket)).alias("now"),
            F.greatest(depth["most"], depth["now"] + _step(bracket)).alias("most"),
        ),
        lambda depth: depth["most"],
    )


def _step(bracket: Column) -> Column:
    return F.when(bracket.isin("[", "{"), 1).otherwise(-1)


def _not_an_event() -> Column:
    """Of the facts alone: the parsed event, with the texts of its facets, is not carried on to here."""
    kind, time = F.col("kind"), F.col("time")
    needs_job = kind.isin("RUN", "JOB")
    return (
        F.when(F.col("has_wrong_type"), Reason.BAD_SHAPE.value)
        .when(kind.isNull(), Reason.NOT_AN_EVENT.value)
        .when(_is_blank(time), Reason.MISSING_EVENT_TIME.value)
        .when(F.col("event_time").isNull() & time.rlike(_LOCAL_TIME + "$"), Reason.EVENT_TIME_WITHOUT_ZONE.value)
        .when(F.col("event_time").isNull(), Reason.BAD_EVENT_TIME.value)
        .when(~F.col("event_type").isin(*EVENT_TYPES), Reason.UNKNOWN_EVENT_TYPE.value)
        .when(_is_blank(F.col("producer")), Reason.MISSING_PRODUCER.value)
        .when(_is_blank(F.col("schema_url")), Reason.MISSING_SCHEMA_URL.value)
        .when((kind == "RUN") & ~F.coalesce(F.col("run_id").rlike(_UUID), F.lit(False)), Reason.BAD_RUN_ID.value)
        .when(needs_job & _is_nameless("job"), Reason.MISSING_JOB.value)
        .when((kind == "DATASET") & _is_nameless("dataset"), Reason.MISSING_DATASET.value)
        .when(_has_nameless(F.col("inputs")) | _has_nameless(F.col("outputs")), Reason.MISSING_DATASET.value)
        .when(_has_no_count(), Reason.BAD_COUNT.value)
    )


def _kind(event: Column) -> Column:
    return (
        F.when(event["run"].isNotNull(), "RUN")
        .when(event["dataset"].isNotNull(), "DATASET")
        .when(event["job"].isNotNull(), "JOB")
    )


def _instant(text: Column) -> Column:
    return F.when(text.rlike(_UTC), text.try_cast("timestamp")).when(
        text.rlike(_LOCAL_TIME + _ZONE), F.translate(text, "tz", "TZ").try_cast("timestamp")
    )


def _parent(facet: Column) -> Column:
    return F.when(
        facet["run"]["runId"].isNotNull(),
        F.struct(
            F.lower(facet["run"]["runId"]).alias("run_id"),
            facet["job"]["namespace"].alias("job_namespace"),
            facet["job"]["name"].alias("job_name"),
        ),
    )


def _input(dataset: Column) -> Column:
    facets = dataset["inputFacets"]
    return _dataset(dataset, facets["inputStatistics"], [dataset["facets"], *(facets[name] for name in TEST_FACETS)])


def _output(dataset: Column) -> Column:
    return _dataset(dataset, dataset["outputFacets"]["outputStatistics"], [dataset["facets"]])


def _dataset(dataset: Column, statistics: Column, facets: list[Column]) -> Column:
    return F.struct(
        dataset["namespace"].alias("namespace"),
        dataset["name"].alias("name"),
        _count(statistics["rowCount"]).alias("row_count"),
        _count(statistics["size"]).alias("size"),
        _hash(*facets).alias("facets_hash"),
    )


def _hash(*facets: Column) -> Column:
    """Tells facets that were seen before from new ones without keeping their text."""
    return F.when(F.coalesce(*facets).isNotNull(), F.xxhash64(*facets))


def _tests(event: Column, text: Column) -> Column:
    """What the event says of tests: a JSON list for each facet that has some, with the dataset it is about.

    Null where there are none, which is told without looking for them.
    """

    def of_dataset(dataset: Column, *facets: Column) -> Column:
        return F.transform(
            F.array(F.get_json_object(dataset["facets"], f"$.{ASSERTIONS}"), *facets),
            lambda facet: F.struct(
                dataset["namespace"].alias("namespace"),
                dataset["name"].alias("name"),
                F.get_json_object(facet, "$.assertions").alias("results"),
            ),
        )

    def of_datasets(datasets: Column, results: Callable[[Column], Column]) -> Column:
        return F.flatten(F.coalesce(F.transform(datasets, results), F.array()))

    nobody = F.lit(None).cast("string")
    of_run = F.array(
        F.struct(
            nobody.alias("namespace"),
            nobody.alias("name"),
            F.get_json_object(event["run"]["facets"]["test"], "$.tests").alias("results"),
        )
    )
    stated = F.concat(
        of_run,
        of_dataset(event["dataset"]),
        of_datasets(event["inputs"], lambda one: of_dataset(one, one["inputFacets"][ASSERTIONS])),
        of_datasets(event["outputs"], lambda one: of_dataset(one)),
    )
    # As a pattern: those skip what cannot be the beginning, where `contains` looks at every byte.
    has_some = text.rlike(f'"{ASSERTIONS}"') | event["run"]["facets"]["test"].isNotNull()
    return F.when(has_some, F.filter(stated, lambda one: one["results"].isNotNull()))


def _ledger_facet(event: Column) -> Column:
    facets = event["run"]["facets"]
    return F.coalesce(facets["cdme_accountingLedger"], facets["cdme.accountingLedger"])


def _ledger(facet: Column) -> Column:
    return F.when(
        facet.isNotNull(),
        F.struct(
            _count(facet["inputRecordCount"]).alias("input_count"),
            _count(facet["processedCount"]).alias("processed_count"),
            _count(facet["filteredCount"]).alias("filtered_count"),
            _count(facet["erroredCount"]).alias("errored_count"),
            facet["balanced"].try_cast("boolean").alias("declared_balanced"),
        ),
    )


def _certificate(facets: Column) -> Column:
    """The certificate with its texts as they were hashed, and its lists sorted as they were hashed."""
    facet = F.coalesce(facets["cdme_fidelityCertificate"], facets["cdme.fidelityCertificate"])
    texts = {
        "certificate_id": "certificateId",
        "algorithm": "algorithm",
        "source_state_hash": "sourceStateHash",
        "target_state_hash": "targetStateHash",
        "contract_version": "contractVersion",
        "timestamp": "timestamp",
        "run_id": "runId",
        "previous_hash": "previousHash",
        "chain_hash": "chainHash",
    }
    invariants = F.transform(
        _entries(facet["invariants"]),
        lambda one: F.struct(one["key"].alias("name"), one["value"].try_cast("boolean").alias("passed")),
    )
    thresholds = F.transform(
        _entries(facet["materialityThresholds"]),
        lambda one: F.struct(one["key"].alias("name"), one["value"].alias("value")),
    )
    return F.when(
        facet.isNotNull(),
        F.struct(
            *(facet[name].alias(column) for column, name in texts.items()),
            invariants.alias("invariants"),
            thresholds.alias("materiality_thresholds"),
        ),
    )


def _entries(text: Column) -> Column:
    """The members of a JSON object, sorted by name; null where the text is none."""
    return F.array_sort(F.map_entries(F.from_json(text, "MAP<STRING, STRING>")))


def _count(text: Column) -> Column:
    """A whole number, however it is written: from ten million on, Spark's parser gives 10000000.0 as 1.0E7."""
    plain = text.try_cast("bigint")
    number = F.when(text.rlike(_COUNT), text.try_cast("decimal(38,18)"))
    whole = number.try_cast("bigint")
    return (
        F.when(text.isNull(), None)
        .when((plain >= 0) & (plain.cast("string") == text), plain)  # nearly always, and without a pattern
        .when(whole == number, whole)
        .otherwise(_NO_COUNT)
    )


def _has_no_count() -> Column:
    ledger = F.col("ledger")
    counts = [ledger[name] for name in ("input_count", "processed_count", "filtered_count", "errored_count")]
    of_ledger = [count == _NO_COUNT for count in counts]
    of_datasets = [
        F.array_contains(F.col(datasets)[name], _NO_COUNT)
        for datasets in ("inputs", "outputs")
        for name in ("row_count", "size")
    ]
    return reduce(or_, (F.coalesce(is_none, F.lit(False)) for is_none in (*of_ledger, *of_datasets)))


def _is_blank(text: Column) -> Column:
    return F.coalesce(text == "", F.lit(True))


def _is_nameless(thing: str) -> Column:
    return _is_blank(F.col(f"{thing}_namespace")) | _is_blank(F.col(f"{thing}_name"))


def _has_nameless(things: Column) -> Column:
    """`array_contains` is null where it found nothing but a null."""
    is_nameless = F.array_contains(things["namespace"], "") | F.array_contains(things["name"], "")
    return things.isNotNull() & F.coalesce(is_nameless, F.lit(True))
