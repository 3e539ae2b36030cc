"""Times, run ids and counts of producers, as Spark expressions. What cannot be read is null, never an exception."""

from pyspark.sql import Column
from pyspark.sql import functions as F

LOCAL_TIME = r"^[1-9]\d{3}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?"
_ZONE = r"([Zz]|[+-]\d{2}:?\d{2})$"
_UTC = r"^[1-9]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)$"
_UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
_YEAR = r"^\d{4}(-|$)"
_COUNT = r"^\d+(\.\d+)?(E\d+)?$"


# What Python can read. Spark has more years.
_FIRST_TIME, _LAST_TIME = "TIMESTAMP '0001-01-01T00:00:00Z'", "TIMESTAMP '9999-12-31T23:59:59.999999Z'"


def instant(text: Column) -> Column:
    """A point in time, at most the end of the year 9999; a text without a zone is in UTC."""
    with_zone = F.translate(text, "tz", "TZ").try_cast("timestamp")
    return (
        F.when(text.rlike(_UTC), text.try_cast("timestamp"))
        .when(text.rlike(LOCAL_TIME + _ZONE), until_last_time(with_zone))
        .when(is_local_time(text), F.concat(F.translate(text, "t", "T"), F.lit("Z")).try_cast("timestamp"))
    )


def until_last_time(time: Column) -> Column:
    """The time, or the end of the year 9999 if that is earlier."""
    return F.when(time > F.expr(_LAST_TIME), F.expr(_LAST_TIME)).otherwise(time)


def time_or_day(text: Column) -> Column:
    """A time, or the beginning of a day, month or year; null for years before 1 or after 9999.

    Spark reads a time without a day as one of today, which another day would read otherwise.
    """
    found = F.when(text.rlike(_YEAR), text.try_cast("timestamp"))
    return F.when(found.between(F.expr(_FIRST_TIME), F.expr(_LAST_TIME)), found)


def is_local_time(text: Column) -> Column:
    """Whether a text is a time without a zone."""
    return text.rlike(LOCAL_TIME + "$")


def is_uuid(text: Column) -> Column:
    """Whether a text is a UUID; null without a text."""
    return text.rlike(_UUID)


def normal_run_id(text: Column) -> Column:
    """A run id: a UUID in lower case, or any other text as it is."""
    return F.when(is_uuid(text), F.lower(text)).otherwise(text)


def is_blank(text: Column) -> Column:
    """Whether a text is missing or empty."""
    return F.coalesce(text == "", F.lit(True))


def sorted_members(text: Column) -> Column:
    """The members of a JSON object, sorted by name; null if the text is not an object."""
    return F.array_sort(F.map_entries(F.from_json(text, "MAP<STRING, STRING>")))


def count(text: Column) -> Column:
    """A whole number from 0, in any notation: from ten million on, Spark's parser gives 10000000.0 as 1.0E7.

    Null if there is none, or if the text is not such a number.
    """
    plain = text.try_cast("bigint")
    number = F.when(text.rlike(_COUNT), text.try_cast("decimal(38,18)"))
    whole = number.try_cast("bigint")
    # The first case is nearly always the right one, and needs no pattern.
    return F.when((plain >= 0) & (plain.cast("string") == text), plain).when(whole == number, whole)
