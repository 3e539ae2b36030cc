"""Parse the JSON text of an event: into a struct, and with the reason why it is not valid JSON."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.schemas.reasons import Reason

ASSERTIONS = "dataQualityAssertions"
TEST_FACETS = (ASSERTIONS, "dataQualityMetrics")
"""Facets of an input that are about the dataset, and not only about the run that read it."""

# Every leaf is text: a number or an object in the wrong place must become a reason, not a null.
_LEDGER = "inputRecordCount STRING, processedCount STRING, filteredCount STRING, erroredCount STRING, balanced STRING"
_CERTIFICATE = (
    "certificateId STRING, algorithm STRING, sourceStateHash STRING, targetStateHash STRING, contractVersion STRING, "
    "invariants STRING, materialityThresholds STRING, timestamp STRING, runId STRING, previousHash STRING, "
    "chainHash STRING"
)
_IDENTITY = "namespace STRING, name STRING"
_PARENT = f"run: STRUCT<runId: STRING>, job: STRUCT<{_IDENTITY}>"
_STATISTICS = "STRUCT<rowCount: STRING, size: STRING>"
_WRONG_TYPE = "wrong_type"
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
    {_WRONG_TYPE} STRING
"""
_JSON_OPTIONS = {
    "columnNameOfCorruptRecord": _WRONG_TYPE,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
_PARSER_DEPTH = 1000  # Jackson's limit


def event(text: Column) -> Column:
    """The event as a struct. Members that no table needs are left out; facets that are needed whole stay JSON text."""
    return F.from_json(text, _EVENT, _JSON_OPTIONS)


def has_wrong_type(event: Column) -> Column:
    """Whether a member of the event has another JSON type than its field."""
    return event[_WRONG_TYPE].isNotNull()


def is_strict_json(text: Column, event_id: Column) -> Column:
    """Whether the text is one JSON value in which no object has a key twice (the variant parser refuses those)."""
    pair = F.try_parse_json(_as_first_of_two(text, event_id))
    return F.coalesce(F.try_variant_get(pair, "$[1]", "string") == event_id, F.lit(False))


def json_fault(text: Column, event_id: Column, is_strict_json: Column) -> Column:
    """The reason why the text is not valid JSON; null if it is, or if there is no text."""
    return (
        F.when(text.isNull(), None)
        .when(~F.is_valid_utf8(text), Reason.INVALID_UTF8.value)
        .when(is_strict_json, None)
        .when(_is_lenient_json(text, event_id), Reason.DUPLICATE_JSON_KEY.value)
        .when(_depth(text) >= _PARSER_DEPTH, Reason.JSON_TOO_DEEP.value)
        .otherwise(Reason.INVALID_JSON.value)
    )


def _is_lenient_json(text: Column, event_id: Column) -> Column:
    pair = F.from_json(_as_first_of_two(text, event_id), "ARRAY<STRING>", _JSON_OPTIONS)
    return F.coalesce(F.get(pair, F.lit(1)) == event_id, F.lit(False))


def _as_first_of_two(text: Column, event_id: Column) -> Column:
    """The text as the first element of an array whose second element is the event id.

    Spark's parsers ignore everything after the first JSON value. No text contains its own hash, so the second element
    is the event id only if the text was exactly one value.
    """
    return F.concat(F.lit("["), text, F.lit(',"'), event_id, F.lit('"]'))


def _depth(text: Column) -> Column:
    """How deep the brackets nest. Brackets in strings count too, which is good enough for a text that did not parse."""
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
