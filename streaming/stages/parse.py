"""Parse the JSON text of an event, once: into a struct, and with the reason why it is not valid JSON.

Spark's parser ignores everything after the first JSON value. So the text is parsed as the second of three elements of
an array, and the first and the last have the event id. No text contains its own hash: these are the three elements only
if the text was exactly one JSON object.

Of two members with the same key the last one counts, as in Jackson and in Python. A map of facets has both, so that
`has_duplicates` sees them; such a text is written again without the first one, and parsed again.

Spark's parser drops a whole map or array if one of its members has the wrong type. So of an event with a wrong type,
the facets of the run, the inputs and the outputs are parsed again without such members.
"""

from functools import reduce
from operator import or_

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
_INPUTS = f"""ARRAY<STRUCT<{_IDENTITY}, facets: {_FACETS}, inputFacets: STRUCT<
    inputStatistics: {_STATISTICS}, {": STRING, ".join(TEST_FACETS)}: STRING>>>"""
_OUTPUTS = f"ARRAY<STRUCT<{_IDENTITY}, facets: {_FACETS}, outputFacets: STRUCT<outputStatistics: {_STATISTICS}>>>"
_EVENT = f"""
    eventTime: STRING, eventType: STRING, producer: STRING, schemaURL: STRING,
    run: STRUCT<runId: STRING, facets: {_RUN_FACETS}>,
    job: STRUCT<{_IDENTITY}, facets: {_FACETS}>,
    dataset: STRUCT<{_IDENTITY}, facets: {_FACETS}>,
    inputs: {_INPUTS},
    outputs: {_OUTPUTS}
"""
_MEMBERS = ", ".join(
    f"{name} STRUCT<run: STRUCT<facets: MAP<STRING, {kind}>>, inputs: ARRAY<{kind}>, outputs: ARRAY<{kind}>>"
    for name, kind in {"values": "VARIANT", "texts": "STRING"}.items()
)
_PARSED = f"elements ARRAY<STRUCT<{_SENTINEL}: STRING, {_EVENT}>>, {_WRONG_TYPE} STRING"
_PARSER_DEPTH = 1000
_COUNTED_BRACKETS = 200_000
"""Each is an element of an array: of more, a record could fill the memory."""
_JSON_OPTIONS = {
    "maxNestingDepth": str(_PARSER_DEPTH + 2),  # two levels more than the text has
    "columnNameOfCorruptRecord": _WRONG_TYPE,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}


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


def members(text: Column) -> Column:
    """The facets of the run, the inputs and the outputs in a text, whatever their types are: as values and as texts."""
    document = F.concat(F.lit('{"values":'), text, F.lit(',"texts":'), text, F.lit("}"))
    return F.from_json(document, _MEMBERS, _JSON_OPTIONS)


def with_objects(event: Column, members: Column) -> Column:
    """The event with the run facets, inputs and outputs that are objects, where the parser dropped all of them."""
    facets = members["texts"]["run"]["facets"]
    texts = F.transform(
        F.map_entries(facets), lambda facet: F.concat(_quoted(facet["key"]), F.lit(":"), facet["value"])
    )
    values = F.map_values(members["values"]["run"]["facets"])
    of_run = F.filter(texts, lambda _, at: _is_object(F.get(values, at)))
    run_facets = F.coalesce(event["run"]["facets"], _parsed_again("{", of_run, "}", _RUN_FACETS))
    found = event.withField("run.facets", run_facets)
    for role, schema in (("inputs", _INPUTS), ("outputs", _OUTPUTS)):
        found = found.withField(role, F.coalesce(event[role], objects(members, role, schema)))
    return found


def objects(members: Column, role: str, schema: str) -> Column:
    """The inputs or outputs that are objects or null."""
    values = members["values"][role]

    def is_kept(_: Column, at: Column) -> Column:
        return F.is_variant_null(F.get(values, at)) | _is_object(F.get(values, at))

    return _parsed_again("[", F.filter(members["texts"][role], is_kept), "]", schema)


def has_duplicates_in(members: Column) -> Column:
    """Whether the facets of the run or of a dataset have the same key twice."""

    def in_dataset(text: Column) -> Column:
        facets = F.from_json(text, f"facets {_FACETS}", _JSON_OPTIONS)["facets"]
        return F.coalesce(has_duplicates(F.map_keys(facets)), F.lit(False))

    texts = members["texts"]
    of_lists = (F.exists(texts[role], in_dataset) for role in ("inputs", "outputs"))
    found = (has_duplicates(F.map_keys(texts["run"]["facets"])), *of_lists)
    return reduce(or_, (F.coalesce(each, F.lit(False)) for each in found))


def _is_object(value: Column) -> Column:
    return F.to_json(value).startswith("{")


def _quoted(text: Column) -> Column:
    """A text as JSON."""
    in_array = F.to_json(F.array(text))
    return F.substr(in_array, F.lit(2), F.length(in_array) - 2)


def _parsed_again(start: str, texts: Column, end: str, schema: str) -> Column:
    document = F.concat(F.lit(start), F.array_join(texts, ",", "null"), F.lit(end))
    return F.from_json(document, schema, _JSON_OPTIONS)


def json_fault(text: Column, is_valid: Column, has_wrong_type: Column) -> Column:
    """The reason why the text is not valid JSON; null if it is, or if there is no text."""
    return (
        F.when(text.isNull(), None)
        .when(~F.is_valid_utf8(text), Reason.INVALID_UTF8.value)
        .when(is_valid & ~has_wrong_type, None)
        # The parser may go on after a value that is one level too deep, as if it had the wrong type.
        .when(_depth(text) > _PARSER_DEPTH, Reason.JSON_TOO_DEEP.value)
        .when(is_valid, None)
        .otherwise(Reason.INVALID_JSON.value)
    )


def has_duplicates(names: Column) -> Column:
    """Whether a name comes twice in an array of names; null if there is no array."""
    return F.size(F.array_distinct(names)) < F.size(names)


def with_last_of_equal_keys(text: Column) -> Column:
    """The JSON text without the earlier ones of members with the same key. Keys are sorted."""
    return F.to_json(F.try_parse_json(text))


def _depth(text: Column) -> Column:
    """How deep the brackets nest that are not in strings."""
    without_escapes = F.regexp_replace(text, r"\\.", "")
    without_strings = F.regexp_replace(without_escapes, '"[^"]*"', "")
    brackets = F.split(F.regexp_replace(without_strings, r"[^\[\]{}]+", "").substr(1, _COUNTED_BRACKETS), "")
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
