"""Extract the facts of a parsed event: the columns that the tables need.

In three steps, because Spark computes an expression once for each place that uses it: `datasets` of the event as text,
`kept` without those that have no name or are too many, and `facts`.
"""

from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.schemas.limits import Limits
from lineproof.schemas.openlineage import EVENT_TYPES
from lineproof.streaming.stages.parse import ASSERTIONS, TEST_FACETS
from lineproof.streaming.stages.values import count, instant, is_blank, normal_run_id, sorted_members

_LEDGER_COUNTS = {
    "input_count": "inputRecordCount",
    "processed_count": "processedCount",
    "filtered_count": "filteredCount",
    "errored_count": "erroredCount",
}
_CERTIFICATE_NAMES = {
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
_STATISTICS = "rowCount STRING, size STRING, bytes STRING"
_RUN, _JOB = "STRUCT<runId: STRING>", "STRUCT<namespace: STRING, name: STRING>"
ROLES = ("inputs", "outputs")


def datasets(event: Column) -> dict[str, Column]:
    """The inputs and outputs of an event with everything that is read of them, as text."""
    inputs, outputs = ROLES
    return {
        inputs: F.transform(event[inputs], lambda dataset: _dataset(dataset, inputs)),
        outputs: F.transform(event[outputs], lambda dataset: _dataset(dataset, outputs)),
    }


def kept(datasets: Column, limits: Limits) -> Column:
    """The datasets that have a name; at most as many as the limit, the first ones by name."""
    named = F.filter(datasets, lambda dataset: ~is_nameless(dataset))
    first = F.slice(F.array_sort(named), 1, limits.datasets)
    return F.when(F.size(datasets) > limits.datasets, first).otherwise(named)


def facts(event: Column, run_facets: Column) -> dict[str, Column]:
    """The facts of an event, by column name. The columns `inputs` and `outputs` are the datasets that are kept."""
    stated_type = F.when(event["run"].isNotNull(), event["eventType"])
    parent = run_facets["parent"]
    root = F.from_json(parent["root"], f"run {_RUN}, job {_JOB}")
    return {
        "kind": _kind(event),
        "event_type": F.when(stated_type.isin(*EVENT_TYPES) | stated_type.isNull(), stated_type).otherwise("OTHER"),
        "event_time": instant(event["eventTime"]),
        "run_id": normal_run_id(event["run"]["runId"]),
        "job_namespace": event["job"]["namespace"],
        "job_name": event["job"]["name"],
        "dataset_namespace": event["dataset"]["namespace"],
        "dataset_name": event["dataset"]["name"],
        "job_facets_hash": _hash(event["job"]["facets"]),
        "dataset_facets_hash": _hash(event["dataset"]["facets"]),
        **{role: F.transform(role, _counted) for role in ROLES},
        "producer": F.nullif(event["producer"], F.lit("")),
        "schema_url": F.nullif(event["schemaURL"], F.lit("")),
        "parent": _parent(F.from_json(parent["run"], "runId STRING"), F.from_json(parent["job"], _JOB)),
        "root": _parent(root["run"], root["job"]),
        "nominal_start_at": instant(run_facets["nominalTime"]["nominalStartTime"]),
        "nominal_end_at": instant(run_facets["nominalTime"]["nominalEndTime"]),
        "error_message": F.coalesce(run_facets["errorMessage"]["message"], run_facets["error"]["message"]),
        "stated_duration_ms": count(run_facets["timing"]["durationMs"]),
        "ledger": _ledger(_ledger_facet(run_facets)),
        "certificate": _certificate(run_facets),
        "tests": _tests(event, run_facets),
    }


def stated_counts(run_facets: Column) -> Column:
    """How many row counts, sizes, durations and ledger counts the kept part of the event states, readable or not."""
    ledger = _ledger_facet(run_facets)
    texts = [run_facets["timing"]["durationMs"], *(ledger[name] for name in _LEDGER_COUNTS.values())]
    return _number_of_values(texts, [F.col(role)[name] for role in ROLES for name in ("row_count", "size")])


def readable_counts() -> Column:
    """How many of these counts the facts have. A count that is not a whole number from 0 is null there."""
    return _number_of_values(
        [F.col("stated_duration_ms"), *(F.col("ledger")[name] for name in _LEDGER_COUNTS)],
        [F.col(role)[name] for role in ROLES for name in ("row_count", "size")],
    )


def _number_of_values(values: list[Column], arrays: list[Column]) -> Column:
    in_arrays = (F.coalesce(F.array_size(F.array_compact(array)), F.lit(0)) for array in arrays)
    numbers = (*(value.isNotNull().cast("int") for value in values), *in_arrays)
    return reduce(lambda left, right: left + right, numbers)


def _kind(event: Column) -> Column:
    return (
        F.when(event["run"].isNotNull(), "RUN")
        .when(event["dataset"].isNotNull(), "DATASET")
        .when(event["job"].isNotNull(), "JOB")
    )


def _parent(run: Column, job: Column) -> Column:
    return F.when(
        run["runId"].isNotNull(),
        F.struct(
            normal_run_id(run["runId"]).alias("run_id"),
            job["namespace"].alias("job_namespace"),
            job["name"].alias("job_name"),
        ),
    )


def _dataset(dataset: Column, role: str) -> Column:
    """Name, statistics and tests of a dataset.

    Some producers state the statistics among the facets of the dataset. dbt-ol states the tests there and among the
    facets of the input: results that are equal in both places count once.
    """
    kind = role.removesuffix("s")
    facets, own = dataset["facets"], dataset[f"{kind}Facets"][f"{kind}Statistics"]
    other = F.from_json(F.coalesce(facets[f"{kind}Statistics"], facets["stats"]), _STATISTICS)
    of_input = [dataset["inputFacets"][name] for name in TEST_FACETS] if role == "inputs" else []
    return F.struct(
        dataset["namespace"].alias("namespace"),
        dataset["name"].alias("name"),
        F.coalesce(own["rowCount"], other["rowCount"]).alias("row_count"),
        F.coalesce(own["size"], other["size"], other["bytes"]).alias("size"),
        _hash(facets, *of_input).alias("facets_hash"),
        F.array_distinct(F.array(facets[ASSERTIONS], *of_input[:1])).alias("tests"),
    )


def is_nameless(dataset: Column) -> Column:
    """Whether a dataset has no namespace or no name."""
    return is_blank(dataset["namespace"]) | is_blank(dataset["name"])


def _counted(dataset: Column) -> Column:
    return F.struct(
        dataset["namespace"].alias("namespace"),
        dataset["name"].alias("name"),
        count(dataset["row_count"]).alias("row_count"),
        count(dataset["size"]).alias("size"),
        dataset["facets_hash"].alias("facets_hash"),
    )


def _hash(facets: Column, *more: Column) -> Column:
    """Tells new facets from known ones without keeping their text. Null if there are no facets."""
    is_stated = reduce(or_, (text.isNotNull() for text in (facets, *more)))
    return F.when(is_stated, F.xxhash64(F.map_keys(facets), F.map_values(facets), *more))


def _tests(event: Column, run_facets: Column) -> Column:
    """The test results in the event: a JSON list for each facet that has results, with the dataset that was tested.

    Null if there are none.
    """

    def result(namespace: Column, name: Column, facet: Column) -> Column:
        results = F.get_json_object(facet, "$.assertions").alias("results")
        return F.struct(namespace.alias("namespace"), name.alias("name"), results)

    def of_datasets(role: str) -> Column:
        tested = F.filter(F.col(role), lambda dataset: F.exists(dataset["tests"], lambda facet: facet.isNotNull()))
        results = F.transform(
            tested,
            lambda dataset: F.transform(
                dataset["tests"], lambda facet: result(dataset["namespace"], dataset["name"], facet)
            ),
        )
        return F.flatten(F.coalesce(results, F.array()))

    nothing = F.lit(None).cast("string")
    of_run = F.struct(nothing.alias("namespace"), nothing.alias("name"), run_facets["test"]["tests"].alias("results"))
    dataset = event["dataset"]
    of_dataset = result(dataset["namespace"], dataset["name"], dataset["facets"][ASSERTIONS])
    stated = F.concat(F.array(of_run, of_dataset), *map(of_datasets, ROLES))
    found = F.filter(stated, lambda test: test["results"].isNotNull())
    return F.when(F.size(found) > 0, found)


def _ledger_facet(run_facets: Column) -> Column:
    return F.coalesce(run_facets["cdme_accountingLedger"], run_facets["cdme.accountingLedger"])


def _ledger(facet: Column) -> Column:
    return F.when(
        facet.isNotNull(),
        F.struct(
            *(count(facet[name]).alias(column) for column, name in _LEDGER_COUNTS.items()),
            facet["balanced"].try_cast("boolean").alias("declared_balanced"),
        ),
    )


def _certificate(run_facets: Column) -> Column:
    """The certificate, with its texts and the order of its lists as they were hashed."""
    facet = F.coalesce(run_facets["cdme_fidelityCertificate"], run_facets["cdme.fidelityCertificate"])
    invariants = F.transform(
        sorted_members(facet["invariants"]),
        lambda member: F.struct(member["key"].alias("name"), member["value"].try_cast("boolean").alias("passed")),
    )
    thresholds = F.transform(
        sorted_members(facet["materialityThresholds"]),
        lambda member: F.struct(member["key"].alias("name"), member["value"].alias("value")),
    )
    return F.when(
        facet.isNotNull(),
        F.struct(
            *(facet[name].alias(column) for column, name in _CERTIFICATE_NAMES.items()),
            invariants.alias("invariants"),
            thresholds.alias("materiality_thresholds"),
        ),
    )
