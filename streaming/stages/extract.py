"""Extract the facts of a parsed event: the columns that the tables need."""

from collections.abc import Callable
from functools import reduce
from operator import add

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.streaming.stages.parse import ASSERTIONS, TEST_FACETS

LOCAL_TIME = r"^[1-9]\d{3}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?"
_ZONE = r"([Zz]|[+-]\d{2}:?\d{2})$"
_UTC = r"^[1-9]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)$"
_COUNT = r"^\d+(\.\d+)?(E\d+)?$"
_LEDGER_COUNTS = {
    "input_count": "inputRecordCount",
    "processed_count": "processedCount",
    "filtered_count": "filteredCount",
    "errored_count": "erroredCount",
}
_CERTIFICATE_TEXTS = {
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


def facts(event: Column, text: Column) -> dict[str, Column]:
    """The facts of an event, by column name. `text` is its JSON."""
    run_facets = event["run"]["facets"]
    return {
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
        "tests": _tests(event, text),
    }


def stated_counts(event: Column) -> Column:
    """How many row counts, sizes and ledger counts the event states, readable or not."""
    ledger = _ledger_facet(event)
    return _number_of_values(
        [ledger[name] for name in _LEDGER_COUNTS.values()],
        [
            statistics(event[datasets])[name]
            for datasets, statistics in (("inputs", _input_statistics), ("outputs", _output_statistics))
            for name in ("rowCount", "size")
        ],
    )


def readable_counts() -> Column:
    """How many of these counts the facts have. A count that is not a whole number from 0 is null there."""
    return _number_of_values(
        [F.col("ledger")[name] for name in _LEDGER_COUNTS],
        [F.col(datasets)[name] for datasets in ("inputs", "outputs") for name in ("row_count", "size")],
    )


def _number_of_values(values: list[Column], arrays: list[Column]) -> Column:
    in_arrays = (F.coalesce(F.array_size(F.array_compact(array)), F.lit(0)) for array in arrays)
    return reduce(add, (*(value.isNotNull().cast("int") for value in values), *in_arrays))


def _kind(event: Column) -> Column:
    return (
        F.when(event["run"].isNotNull(), "RUN")
        .when(event["dataset"].isNotNull(), "DATASET")
        .when(event["job"].isNotNull(), "JOB")
    )


def _instant(text: Column) -> Column:
    return F.when(text.rlike(_UTC), text.try_cast("timestamp")).when(
        text.rlike(LOCAL_TIME + _ZONE), F.translate(text, "tz", "TZ").try_cast("timestamp")
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
    tests = (dataset["inputFacets"][name] for name in TEST_FACETS)
    return _dataset(dataset, _input_statistics(dataset), [dataset["facets"], *tests])


def _output(dataset: Column) -> Column:
    return _dataset(dataset, _output_statistics(dataset), [dataset["facets"]])


def _input_statistics(dataset: Column) -> Column:
    return dataset["inputFacets"]["inputStatistics"]


def _output_statistics(dataset: Column) -> Column:
    return dataset["outputFacets"]["outputStatistics"]


def _dataset(dataset: Column, statistics: Column, facets: list[Column]) -> Column:
    return F.struct(
        dataset["namespace"].alias("namespace"),
        dataset["name"].alias("name"),
        _count(statistics["rowCount"]).alias("row_count"),
        _count(statistics["size"]).alias("size"),
        _hash(*facets).alias("facets_hash"),
    )


def _hash(*facets: Column) -> Column:
    """Tells new facets from known ones without keeping their text. Null if there are no facets."""
    return F.when(F.coalesce(*facets).isNotNull(), F.xxhash64(*facets))


def _tests(event: Column, text: Column) -> Column:
    """The test results in the event: a JSON list for each facet that has results, with the dataset that was tested.

    Null if there are none. A search in the text finds that out without parsing the facets.
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

    no_dataset = F.lit(None).cast("string")
    of_run = F.array(
        F.struct(
            no_dataset.alias("namespace"),
            no_dataset.alias("name"),
            F.get_json_object(event["run"]["facets"]["test"], "$.tests").alias("results"),
        )
    )
    stated = F.concat(
        of_run,
        of_dataset(event["dataset"]),
        of_datasets(event["inputs"], lambda dataset: of_dataset(dataset, dataset["inputFacets"][ASSERTIONS])),
        of_datasets(event["outputs"], lambda dataset: of_dataset(dataset)),
    )
    # A pattern, because it skips bytes that cannot begin a match; `contains` looks at every byte.
    has_some = text.rlike(f'"{ASSERTIONS}"') | event["run"]["facets"]["test"].isNotNull()
    return F.when(has_some, F.filter(stated, lambda test: test["results"].isNotNull()))


def _ledger_facet(event: Column) -> Column:
    facets = event["run"]["facets"]
    return F.coalesce(facets["cdme_accountingLedger"], facets["cdme.accountingLedger"])


def _ledger(facet: Column) -> Column:
    return F.when(
        facet.isNotNull(),
        F.struct(
            *(_count(facet[name]).alias(column) for column, name in _LEDGER_COUNTS.items()),
            facet["balanced"].try_cast("boolean").alias("declared_balanced"),
        ),
    )


def _certificate(facets: Column) -> Column:
    """The certificate, with its texts and the order of its lists as they were hashed."""
    facet = F.coalesce(facets["cdme_fidelityCertificate"], facets["cdme.fidelityCertificate"])
    invariants = F.transform(
        _sorted_members(facet["invariants"]),
        lambda member: F.struct(member["key"].alias("name"), member["value"].try_cast("boolean").alias("passed")),
    )
    thresholds = F.transform(
        _sorted_members(facet["materialityThresholds"]),
        lambda member: F.struct(member["key"].alias("name"), member["value"].alias("value")),
    )
    return F.when(
        facet.isNotNull(),
        F.struct(
            *(facet[name].alias(column) for column, name in _CERTIFICATE_TEXTS.items()),
            invariants.alias("invariants"),
            thresholds.alias("materiality_thresholds"),
        ),
    )


def _sorted_members(text: Column) -> Column:
    """The members of a JSON object, sorted by name; null if the text is not an object."""
    return F.array_sort(F.map_entries(F.from_json(text, "MAP<STRING, STRING>")))


def _count(text: Column) -> Column:
    """A whole number from 0, in any notation: from ten million on, Spark's parser gives 10000000.0 as 1.0E7.

    Null if there is none, or if the text is not such a number.
    """
    plain = text.try_cast("bigint")
    number = F.when(text.rlike(_COUNT), text.try_cast("decimal(38,18)"))
    whole = number.try_cast("bigint")
    # The first case is nearly always the right one, and needs no pattern.
    return F.when((plain >= 0) & (plain.cast("string") == text), plain).when(whole == number, whole)
