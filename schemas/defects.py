"""What can be wrong with an event that is used all the same: all codes that `lineage_events.defects` can have."""

from enum import Enum

from lineproof.schemas.reasons import Reason


class Defect(Enum):
    """The code (`value`), what is wrong, what the job made of it, and what the producer should do."""

    meaning: str
    effect: str
    remedy: str

    def __new__(cls, code: str, meaning: str, effect: str, remedy: str) -> "Defect":
        member = object.__new__(cls)
        member._value_ = code
        member.meaning = meaning
        member.effect = effect
        member.remedy = remedy
        return member

    @classmethod
    def of(cls, code: str) -> "Defect":
        """The defect with this code."""
        return next(defect for defect in cls if defect.value == code)

    DUPLICATE_JSON_KEY = (
        "duplicate_json_key",
        "the facets of the run, the job or a dataset have the same key twice",
        "the last one counts; the column `event` has only that one, with its keys sorted",
        "Write each key once.",
    )
    WRONG_TYPE = (
        "wrong_type",
        "a member has another JSON type than the specification gives it, for example inputs that are not an array",
        "the member is read as if it were absent",
        "Compare the event with the OpenLineage specification.",
    )
    MISSING_SCHEMA_URL = (
        "missing_schema_url",
        "schemaURL is absent",
        "schema_url is null",
        "Set schemaURL to the URL of the OpenLineage specification.",
    )
    MISSING_PRODUCER = (
        "missing_producer",
        "producer is absent",
        "producer is null",
        "Set producer to a URI of the emitting code.",
    )
    RUN_ID_NOT_UUID = (
        "run_id_not_uuid",
        "run.runId is not a UUID",
        "the text is the run id, as it is",
        "Use one UUID (v7 advised) for all events of a run.",
    )
    EVENT_TIME_WITHOUT_ZONE = (
        "event_time_without_zone",
        "eventTime has no time zone",
        "it is read as UTC",
        "Append Z or an offset such as +02:00.",
    )
    EVENT_TIME_IN_FUTURE = (
        "event_time_in_future",
        "eventTime is more than a day after the Kafka timestamp of the record",
        "event_time is the Kafka timestamp, so that the event does not stay the latest for ever",
        "Correct the clock or the time zone of the producer.",
    )
    UNKNOWN_EVENT_TYPE = (
        "unknown_event_type",
        "eventType is not START, RUNNING, COMPLETE, FAIL, ABORT or OTHER",
        "it is read as OTHER",
        "Use one of these, or leave eventType out.",
    )
    BAD_COUNT = (
        "bad_count",
        "a row count, size, duration or ledger count is not a whole number from 0 to 2^63-1",
        "the count is null",
        "Count in whole numbers.",
    )
    NAMELESS_DATASET = (
        "nameless_dataset",
        "an input or output has no namespace or no name",
        "it is left out of lineage",
        "Set namespace and name of every dataset.",
    )
    TOO_MANY_DATASETS = (
        "too_many_datasets",
        "there are more inputs or outputs than `limits.datasets`",
        "the first ones by name are kept",
        "Name the table or directory instead of its files, or raise the limit.",
    )
    TOO_MANY_FACETS = (
        "too_many_facets",
        "the job or a dataset has more facets than `limits.facets`",
        "the first ones by name are kept",
        "Put the values into one facet, or raise the limit.",
    )
    TOO_MANY_COLUMNS = (
        "too_many_columns",
        "a columnLineage facet has more source columns than `limits.columns`",
        "the first ones are kept",
        "State column lineage only where columns are combined, or raise the limit.",
    )
    TOO_MANY_SYMLINKS = (
        "too_many_symlinks",
        "a dataset has more symlinks than `limits.symlinks`",
        "the first ones by name are kept",
        "State the names of the dataset itself, or raise the limit.",
    )
    FOREIGN_CERTIFICATE = (
        "foreign_certificate",
        "the certificate is about another run than the event",
        "the certificate is kept and does not count for the run of the event",
        "Send a certificate with an event of its own run.",
    )
    FOREIGN_NAMESPACE = (
        "foreign_namespace",
        "the principal of the record is bound to other namespaces (`principals.namespaces`)",
        "the event is used, but its symlinks and its ownership facets are not",
        "Send events of this namespace with a key of its team, or add the namespace to the principal.",
    )
    UNTRUSTED_SYMLINKS = (
        "untrusted_symlinks",
        "a dataset has symlinks, and the principal of the record is not in `principals.symlinks`",
        "the symlinks are left out of the tables of datasets",
        "Let the owner of the dataset state them, or add the principal to the setting.",
    )
    UNTRUSTED_OWNERSHIP = (
        "untrusted_ownership",
        "a job or dataset has owners, and the principal of the record is not in `principals.ownership`",
        "the owners are left out of the tables of jobs and datasets",
        "Let a trusted principal state them, or add this one to the setting.",
    )


OF_RECORD = (
    Defect.EVENT_TIME_IN_FUTURE,
    Defect.FOREIGN_NAMESPACE,
    Defect.UNTRUSTED_SYMLINKS,
    Defect.UNTRUSTED_OWNERSHIP,
)
"""Defects that depend on the record, its timestamp or its principal. The same bytes can come again without them."""

UNTRUSTED_FACETS = {
    "symlinks": (Defect.FOREIGN_NAMESPACE, Defect.UNTRUSTED_SYMLINKS),
    "ownership": (Defect.FOREIGN_NAMESPACE, Defect.UNTRUSTED_OWNERSHIP),
}
"""The facets that do not count if the event has one of these defects."""

FATAL_IF_STRICT = {
    Defect.DUPLICATE_JSON_KEY: Reason.DUPLICATE_JSON_KEY,
    Defect.WRONG_TYPE: Reason.BAD_SHAPE,
    Defect.MISSING_SCHEMA_URL: Reason.MISSING_SCHEMA_URL,
    Defect.MISSING_PRODUCER: Reason.MISSING_PRODUCER,
    Defect.RUN_ID_NOT_UUID: Reason.BAD_RUN_ID,
    Defect.EVENT_TIME_WITHOUT_ZONE: Reason.EVENT_TIME_WITHOUT_ZONE,
    Defect.UNKNOWN_EVENT_TYPE: Reason.UNKNOWN_EVENT_TYPE,
    Defect.BAD_COUNT: Reason.BAD_COUNT,
    Defect.NAMELESS_DATASET: Reason.MISSING_DATASET,
}
"""With `tolerance: strict`, a record with one of these defects is a dead letter with this reason."""
