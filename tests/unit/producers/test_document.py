"""OpenLineage objects as JSON documents."""

import json
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pandas
import pytest
from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import column_lineage_dataset, error_message_run, schema_dataset
from openlineage.client.serde import Serde

from lineproof.producers.document import NotJson, to_document, to_payload


def test_documents_equal_the_serialisation_of_the_client() -> None:
    schema = schema_dataset.SchemaDatasetFacet(
        fields=[schema_dataset.SchemaDatasetFacetFields(name="id", type="bigint", fields=[])]
    )
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={"id": column_lineage_dataset.Fields(inputFields=[])}
    )
    event = ol.RunEvent(
        eventType=ol.RunState.FAIL,
        eventTime="2026-01-01T00:00:00Z",
        run=ol.Run(
            "01890000-0000-7000-8000-000000000001",
            {"errorMessage": error_message_run.ErrorMessageRunFacet("no", "python")},
        ),
        job=ol.Job("a", "b"),
        outputs=[ol.OutputDataset("db", "out", facets={"schema": schema, "columnLineage": lineage})],
    )
    assert to_document(event) == Serde.to_dict(event)


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2026, 1, 1, tzinfo=timezone.utc), "2026-01-01T00:00:00+00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), 1.1),
        (Decimal("3.00"), 3),
        (Path("a/b"), "a/b"),
        (Colour.RED, "red"),
        (pandas.Series([3]).sum(), 3),
        (pandas.Series([0.5]).sum(), 0.5),
        (MappingProxyType({"a": None, 1: (True, None)}), {"1": [True, None]}),
        ({3}, [3]),
    ],
)
def test_common_python_types_are_converted(value: Any, expected: Any) -> None:
    found = to_document(value)
    assert found == expected
    assert type(found) is type(expected)


def test_large_integers_and_unicode_text_are_preserved() -> None:
    document = {"big": 2**80, "text": "ünïcödé ✓"}
    assert json.loads(to_payload(document)) == document
    assert to_payload({"a": "ü"}) == '{"a":"ü"}'.encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_nan_and_infinity_raise(number: float) -> None:
    with pytest.raises(NotJson, match="has no form"):
        to_document([number])


def test_unsupported_types_raise() -> None:
    with pytest.raises(NotJson, match=r"A builtins\.object has no form"):
        to_document({"a": [object()]})
