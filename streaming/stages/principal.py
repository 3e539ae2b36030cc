"""The principal of a record, and what its event may not state, as Spark expressions."""

from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.schemas.defects import Defect
from lineproof.schemas.headers import PRINCIPAL, REDRIVEN_FROM
from lineproof.schemas.principals import ANYONE_ELSE, MAX_LENGTH, Names, Principals, namespace_regex

_RECREATED = "#"
"""Records of a recreated topic are archived under NAME#2. No topic's name has this character."""


def principal(topic: Column, headers: Column, principals: Principals) -> Column:
    """Who sent the record: the principal of its topic, or else the one in its header; null if there is none."""
    name = F.substring_index(topic, _RECREATED, 1)
    found = F.substring(_header(headers, PRINCIPAL), 1, MAX_LENGTH)
    for pattern, of_topic in reversed(principals.topics):
        is_topic = name.rlike(f"^(?:{pattern})$") if pattern.startswith("^") else name == pattern
        found = F.when(is_topic, of_topic).otherwise(found)
    return found


def redrives(headers: Column, principal: Column, principals: Principals) -> Column:
    """The dead letter that the record replaces, if its principal may say so."""
    return F.when(_may(principal, principals.redrive), _header(headers, REDRIVEN_FROM))


def defects(event: Column, principal: Column, principals: Principals) -> dict[Defect, Column]:
    """What the event states although its principal may not. Rules that are not configured cost nothing."""
    found = {}
    if principals.namespaces:
        namespace = F.coalesce(F.col("job_namespace"), F.col("dataset_namespace"))
        found[Defect.FOREIGN_NAMESPACE] = ~_is_own(namespace, principal, principals)
    if principals.symlinks:
        is_stated = _has_facet(event, "symlinks", ("dataset",))
        found[Defect.UNTRUSTED_SYMLINKS] = ~_may(principal, principals.symlinks) & is_stated
    if principals.ownership:
        is_stated = _has_facet(event, "ownership", ("job", "dataset"))
        found[Defect.UNTRUSTED_OWNERSHIP] = ~_may(principal, principals.ownership) & is_stated
    return found


def _is_own(namespace: Column, principal: Column, principals: Principals) -> Column:
    """Whether the namespace is one that the principal is bound to. A principal without a rule may use all."""
    rules = dict(principals.namespaces)
    others = rules.pop(ANYONE_ELSE, None)
    is_own = F.lit(True) if others is None else _matches(namespace, others)
    for name, patterns in rules.items():
        is_own = F.when(principal == name, _matches(namespace, patterns)).otherwise(is_own)
    return F.coalesce(is_own, F.lit(False))


def _matches(namespace: Column, patterns: Names) -> Column:
    return namespace.rlike(rf"\A{namespace_regex(patterns)}\z")


def _may(principal: Column, allowed: Names) -> Column:
    return F.coalesce(principal.isin(*allowed), F.lit(False)) if allowed else F.lit(True)


def _has_facet(event: Column, name: str, entities: Names) -> Column:
    of_one = (event[entity]["facets"][name].isNotNull() for entity in entities)
    of_lists = (
        F.exists(event[role], lambda dataset: dataset["facets"][name].isNotNull()) for role in ("inputs", "outputs")
    )
    return reduce(or_, (F.coalesce(condition, F.lit(False)) for condition in (*of_one, *of_lists)))


def _header(headers: Column, name: str) -> Column:
    """The text of the last header with this name; null if there is none, or if it is not UTF-8."""
    with_name = F.filter(headers, lambda header: header["key"] == name)
    text = F.try_validate_utf8(F.try_element_at(with_name, F.lit(-1))["value"].cast("string"))
    return F.when(F.size(headers) > 0, text)
