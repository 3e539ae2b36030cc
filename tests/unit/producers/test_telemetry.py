"""Telemetry of steps, and lineage modes."""

import pytest

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.datasets import output_dataset
from lineproof.producers.emitter import Emitter
from lineproof.producers.lineage_mode import MAX_KEY_ENVELOPES, SAMPLE_EVERY, LineageMode
from tests.transport import Memory

OUT, OTHER = DatasetName("db", "out"), DatasetName("db", "other")


def test_steps_are_measured_by_rows_time_and_quality(memory: Memory) -> None:
    with Emitter(memory, "tests").run("job") as run:
        for part in (range(4), range(6)):
            with run.morphism("clean") as clean:
                for row in clean.over(part):
                    clean.output_rows += row % 2
                clean.quality["null_rate"] = 0.25
        with run.morphism("load") as load:
            load.input_rows, load.output_rows, load.error_rows = 5, 4, 1
    facet = memory.facet("cdme_telemetry")
    assert (facet["inputRows"], facet["outputRows"], facet["errorRows"]) == (10, 4, 1)
    assert facet["peakMemoryBytes"] > 1_000_000
    clean_step, load_step = facet["morphisms"]
    assert (clean_step["name"], clean_step["inputRows"], clean_step["outputRows"]) == ("clean", 10, 5)
    assert clean_step["quality"] == {"null_rate": 0.25}
    assert load_step["errorRows"] == 1


def test_a_step_can_be_switched_off(memory: Memory) -> None:
    with Emitter(memory, "tests", telemetry_off={"clean"}).run("job") as run:
        with run.morphism("clean") as clean:
            assert list(clean.over([1, 2])) == [1, 2]
        with run.morphism("load"):
            pass
    assert [step["name"] for step in memory.facet("cdme_telemetry")["morphisms"]] == ["load"]


def test_without_steps_there_is_no_telemetry_facet(memory: Memory) -> None:
    with Emitter(memory, "tests", telemetry_off={"clean"}).run("job") as run, run.morphism("clean"):
        pass
    assert "cdme_telemetry" not in memory.documents[-1]["run"]["facets"]


def emit(memory: Memory, mode: LineageMode, keys: int) -> None:
    with Emitter(memory, "tests", strict=True).run("job", lineage_mode=mode) as run:
        run.lineage.execution(epoch="2026-01", lookup_versions={"weights": "7"}, determinism_verified=True)
        run.lineage.path("amount", "parse", "convert")
        run.lineage.reverse_join(OUT, "convert", "db.rates", ["currency"])
        for number in range(keys):
            run.lineage.keys(OUT, str(number), [f"in-{number}"])
        for name in (OUT, OTHER):
            run.add_output(output_dataset(name, schema={"amount": "numeric"}, row_count=keys))


@pytest.mark.parametrize("mode", LineageMode)
def test_every_mode_has_paths_and_reverse_joins(memory: Memory, mode: LineageMode) -> None:
    emit(memory, mode, keys=1)
    assert memory.facet("cdme_execution")["lineageMode"] == mode.value
    assert memory.facet("cdme_morphismTrace")["paths"] == {"amount": ["parse", "convert"]}
    ours, other = memory.documents[-1]["outputs"]
    assert ours["facets"]["cdme_adjointMetadata"]["reverseJoins"] == [
        {"morphism": "convert", "location": "db.rates", "keyColumns": ["currency"]}
    ]
    assert ours["facets"]["cdme_adjointMetadata"]["keyCount"] == 1
    assert "cdme_adjointMetadata" not in other["facets"]


def envelopes(memory: Memory) -> list[str]:
    facet = memory.documents[-1]["outputs"][0]["facets"]["cdme_adjointMetadata"]
    return [envelope["outputKey"] for envelope in facet.get("keyEnvelopes", [])]


def test_full_mode_carries_every_key_up_to_a_limit(memory: Memory) -> None:
    emit(memory, LineageMode.FULL, keys=50)
    assert envelopes(memory) == [str(number) for number in range(50)]
    emit(memory, LineageMode.FULL, keys=MAX_KEY_ENVELOPES + 1)
    assert len(envelopes(memory)) == MAX_KEY_ENVELOPES
    facet = memory.documents[-1]["outputs"][0]["facets"]["cdme_adjointMetadata"]
    assert facet["keyCount"] == MAX_KEY_ENVELOPES + 1


def test_key_derivable_mode_carries_no_keys(memory: Memory) -> None:
    emit(memory, LineageMode.KEY_DERIVABLE, keys=1000)
    assert envelopes(memory) == []


def test_sampled_mode_carries_the_same_keys_in_every_run(memory: Memory) -> None:
    emit(memory, LineageMode.SAMPLED, keys=10_000)
    first = envelopes(memory)
    emit(memory, LineageMode.SAMPLED, keys=10_000)
    assert envelopes(memory) == first
    assert 0.5 < len(first) / (10_000 / SAMPLE_EVERY) < 2
    assert memory.facet("cdme_morphismTrace")["sampleRate"] == 1 / SAMPLE_EVERY
