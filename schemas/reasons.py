"""The reasons why a record cannot be used: all codes that `dead_letters.reason` can have."""

from enum import Enum


class Reason(Enum):
    """The code (`value`), what it means, and what to do about it."""

    meaning: str
    remedy: str

    def __new__(cls, code: str, meaning: str, remedy: str) -> "Reason":
        member = object.__new__(cls)
        member._value_ = code
        member.meaning = meaning
        member.remedy = remedy
        return member

    @classmethod
    def of(cls, code: str) -> "Reason":
        """The reason with this code."""
        return next(reason for reason in cls if reason.value == code)

    # The envelope cannot be decoded
    EMPTY_VALUE = "empty_value", "the record has no value", "Find the producer that writes tombstones here."
    UNKNOWN_FRAMING = (
        "unknown_framing",
        "the first bytes are neither a lineproof envelope, nor Confluent framing, nor JSON",
        "Publish with the lineproof emitter, or as plain OpenLineage JSON.",
    )
    UNKNOWN_SCHEMA_FINGERPRINT = (
        "unknown_schema_fingerprint",
        "the envelope was written with a schema this version does not know",
        "Upgrade the job if the producer is newer; otherwise correct the producer.",
    )
    UNKNOWN_SCHEMA_ID = (
        "unknown_schema_id",
        "the Confluent schema id is neither the schema registry's for an envelope nor one of `schema_ids`",
        "Set `schema_registry`, or add the id and its envelope version to `schema_ids`.",
    )
    AVRO_UNDECODABLE = (
        "avro_undecodable",
        "the Avro bytes are truncated or damaged",
        "Check the producer and everything that relays its records.",
    )
    UNSUPPORTED_ENCODING = (
        "unsupported_encoding",
        "the envelope's content_encoding is not `plain`",
        "Let Kafka compress (compression.type) instead of the envelope.",
    )
    # The payload cannot be parsed
    INVALID_UTF8 = "invalid_utf8", "the payload is not UTF-8", "Write JSON as UTF-8."
    JSON_TOO_DEEP = (
        "json_too_deep",
        "the payload nests deeper than 1,000 levels",
        "Flatten the facet, or keep it elsewhere and link to it.",
    )
    DUPLICATE_JSON_KEY = (
        "duplicate_json_key",
        "an object has the same key twice, so readers would disagree about the event",
        "Write each key once.",
    )
    INVALID_JSON = "invalid_json", "the payload is not one JSON value", "Correct the producer's serialiser."
    # The JSON is not an event
    BAD_SHAPE = (
        "bad_shape",
        "a member of the event has the wrong JSON type, for example inputs that are not an array",
        "Compare the event with the OpenLineage specification.",
    )
    NOT_AN_EVENT = (
        "not_an_event",
        "the JSON has neither a run, nor a dataset, nor a job",
        "Publish OpenLineage run, dataset or job events only.",
    )
    MISSING_EVENT_TIME = "missing_event_time", "eventTime is absent", "Set eventTime."
    EVENT_TIME_WITHOUT_ZONE = (
        "event_time_without_zone",
        "eventTime has no time zone",
        "Append Z or an offset such as +02:00.",
    )
    BAD_EVENT_TIME = (
        "bad_event_time",
        "eventTime is not an ISO 8601 instant",
        "Write 2026-01-31T23:59:59.999Z.",
    )
    UNKNOWN_EVENT_TYPE = (
        "unknown_event_type",
        "eventType is not START, RUNNING, COMPLETE, FAIL, ABORT or OTHER",
        "Use one of these, or leave eventType out.",
    )
    MISSING_PRODUCER = "missing_producer", "producer is absent", "Set producer to a URI of the emitting code."
    MISSING_SCHEMA_URL = (
        "missing_schema_url",
        "schemaURL is absent",
        "Set schemaURL to the URL of the OpenLineage specification.",
    )
    BAD_RUN_ID = (
        "bad_run_id",
        "run.runId is absent or not a UUID",
        "Use one UUID (v7 advised) for all events of a run.",
    )
    MISSING_JOB = "missing_job", "the job has no namespace or no name", "Set job.namespace and job.name."
    MISSING_DATASET = (
        "missing_dataset",
        "a dataset has no namespace or no name",
        "Set namespace and name of the dataset and of every input and output.",
    )
    BAD_COUNT = (
        "bad_count",
        "a row count, size or ledger count is not a whole number from 0 to 2^63-1",
        "Count in whole numbers.",
    )
    # Envelope and payload do not belong together
    ENVELOPE_DISAGREES = (
        "envelope_disagrees",
        "the envelope's event_id, kind, type, run or job are not those of its payload",
        "Seal the envelope after the last change to the payload. If you do, something changes it on the way.",
    )
    # The job has a fault
    CANNOT_BE_PROCESSED = (
        "cannot_be_processed",
        "a batch failed on this record for a reason that lineproof does not know; `error` says which",
        "Report it with the error. After an upgrade, delete its row in `quarantine` and rebuild, or redrive it.",
    )
