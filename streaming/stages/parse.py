"""Parse the JSON text of an event, once: into a struct, and with the reason why it is not valid JSON.

Spark's parser ignores everything after the first JSON value. So the text is parsed as the second of three elements of
an array, and the first and the last have the event id. No text contains its own hash: these are the three elements only
if the text was exactly one JSON object.

Of two members with the same key the last one counts, as in Jackson and in Python. A map of facets has both, so that
`has_duplicates` sees them; such a text is written again without the first one, and parsed again.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.schemas.reasons import Reason

ASSERTIONS = "dataQualityAssertions"
TEST_FACETS = (ASSERTIONS, "dataQualityMetrics", "llm")
"""Facets of an input that are about the dataset, and not only about the run that read it."""

LEDGER_COUNTS = ("inputRecordCount", "processedCount", "filteredCount", "erroredCount")
CERTIFICATE_TEXTS = (
    *("certificateId", "algorithm", "sourceStateHash", "targetStateHash", "contractVersion", "timestamp", "runId"),
    *("previousHash", "chainHash"),
)
_RUN_FACET = (
    *("run", "job", "root", "nominalStartTime", "nominalEndTime", "message", "tests", "durationMs"),
    *(*LEDGER_COUNTS, "balanced"),
    *(*CERTIFICATE_TEXTS, "invariants", "materialityThresholds"),
)
"""The members of all run facets that are read. One type for all facets, because a map has one: its keys show which
facets there are, and which come twice."""

# Every leaf is text: Spark turns a number or an object in its place into text, too.
_RUN_FACETS = f"MAP<STRING, STRUCT<{', '.join(f'{name}: STRING' for name in _RUN_FACET)}>>"
_FACETS = "MAP<STRING, STRING>"
_IDENTITY = "namespace: STRING, name: STRING"
_STATISTICS = "STRUCT<rowCount: STRING, size: STRING>"
_SENTINEL, _WRONG_TYPE = "__event_id", "wrong_type"
_EVENT = f"""
    eventTime: STRING, eventType: STRING, producer: STRING, schemaURL: STRING,
    run: STRUCT<runId: STRING, facets: {_RUN_FACETS}>,
    job: STRUCT<{_IDENTITY}, facets: {_FACETS}>,
    dataset: STRUCT<{_IDENTITY}, facets: {_FACETS}>,
    inputs: ARRAY<STRUCT<{_IDENTITY}, facets: {_FACETS}, inputFacets: STRUCT<
        inputStatistics: {_STATISTICS}, {": STRING, ".join(TEST_FACETS)}: STRING>>>,
    outputs: ARRAY<STRUCT<{_IDENTITY}, facets: {_FACETS}, outputFacets: STRUCT<outputStatistics: {_STATISTICS}>>>
"""
_PARSED = f"elements ARRAY<STRUCT<{_SENTINEL}: STRING, {_EVENT}>>, {_WRONG_TYPE} STRING"
_JSON_OPTIONS = {
    "columnNameOfCorruptRecord": _WRONG_TYPE,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
_PARSER_DEPTH = 1000  # Jackson's limit


def parsed(text: Column, event_id: Column) -> Column:
    """The text parsed as an event, in the form that the functions below take."""
    sentinel = F.concat(F.lit(f'{{"{_SENTINEL}":"'), event_id, F.lit('"}'))
    document = F.concat(F.lit('{"elements":['), sentinel, F.lit(","), text, F.lit(","), sentinel, F.lit("]}"))
    return F.from_json(document, _PARSED, _JSON_OPTIONS)


def event(parsed: Column) -> Column:
    """The event as a struct. Members that no table needs are left out; facets that are needed whole stay JSON text."""
    return F.get(parsed["elements"], F.lit(1))


def is_valid(parsed: Column, event_id: Column) -> Column:
    """Whether the text was one JSON object, and nothing else."""
    elements = parsed["elements"]
    ends = (F.get(elements, F.lit(at))[_SENTINEL].eqNullSafe(event_id) for at in (0, 2))
    return F.coalesce(F.size(elements) == 3, F.lit(False)) & next(ends) & next(ends)


def has_wrong_type(parsed: Column) -> Column:
    """Whether a member of the event has another JSON type than its field. Such a member is null."""
    return parsed[_WRONG_TYPE].isNotNull()


def json_fault(text: Column, is_valid: Column) -> Column:
    """The reason why the text is not valid JSON; null if it is, or if there is no text."""
    return (
        F.when(text.isNull(), None)
        .when(~F.is_valid_utf8(text), Reason.INVALID_UTF8.value)
        .when(is_valid, None)
        .when(_depth(text) >= _PARSER_DEPTH, Reason.JSON_TOO_DEEP.value)
        .otherwise(Reason.INVALID_JSON.value)
    )


def has_duplicates(names: Column) -> Column:
    """Whether a name comes twice in an array of names; null if there is no array."""
    return F.size(F.array_distinct(names)) < F.size(names)


def with_last_of_equal_keys(text: Column) -> Column:
    """The JSON text without the earlier ones of members with the same key. Keys are sorted."""
    return F.to_json(F.try_parse_json(text))


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
