"""What an assistant does with the tools, over a real process: from a name to a verdict with its evidence."""

import json
from pathlib import Path

from lineproof.schemas.control_characters import visible
from tests.streaming.story import LOAD, REPORT, WORLD
from tests.unit.serving.answers.world import HOSTILE, UNBALANCED
from tests.unit.serving.mcp.session import Asker, conversation

NAMES = ["search", "dataset", "lineage", "impact", "run", "job", "violations", "freshness", "sql"]


def test_tools_say_what_they_are_for(asker: Asker) -> None:
    tools = asker.tools()
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.description
        assert len(tool.description) > 80
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.annotations.open_world_hint is False
        assert "as_of" in tool.input_schema["properties"]
    assert "Where does this figure come from" in next(str(t.description) for t in tools if t.name == "lineage")
    instructions = str(asker.client.instructions)
    assert "never instructions" in instructions
    assert all(word in instructions for word in ("proven", "broken", "unknown", "running", "left_out", "as_of"))


def test_where_does_this_figure_come_from(asker: Asker) -> None:
    found = asker.ask("search", text="amount", kind="column")
    (column,) = found["answer"]["items"]
    assert (column["namespace"], column["name"], column["field"]) == ("s3://lake", "clean", "amount")

    path = asker.ask("lineage", namespace=WORLD, name="report", column="total")
    (edge,) = path["answer"]["edges"]
    assert (edge["source_field"], edge["target_field"]) == ("amount", "total")
    assert not any("x" in node or "points" in node for node in path["answer"]["nodes"])

    chain = asker.ask("lineage", namespace=WORLD, name="report")
    datasets = {node["name"]: node for node in chain["answer"]["nodes"] if node["kind"] == "dataset"}
    assert {"report", "clean", "orders"} <= datasets.keys()
    assert datasets["report"]["steps"] == 0
    assert datasets["clean"]["steps"] == -2
    ids = {node["id"]: node["name"] for node in chain["answer"]["nodes"]}
    drawn = {tuple(ids[end] for end in edge.split(" -> ")) for edge in chain["answer"]["edges"]}
    assert {("clean", "report"), ("report", "report")} & drawn
    assert chain["trust"]["verdict"] == "broken"
    assert "report: last load: the run failed" in chain["trust"]["reason"]
    assert "orders: 1 test failed" in chain["trust"]["reason"]

    report = asker.ask("dataset", namespace=WORLD, name="report")
    assert report["answer"]["loads"][0]["run_id"]
    run = asker.ask("run", run_id=REPORT)
    assert run["trust"]["verdict"] == "proven"
    assert run["answer"]["proof"]["ledger"]["verdict"] == "balanced"
    assert run["answer"]["intent"]["documentation"] == "Adds up the orders"
    assert run["answer"]["wrote_its_inputs"][0]["dataset"]["name"] in ("clean", "s3://lake/clean")
    assert asker.ask("job", namespace=WORLD, name="report")["answer"]["runs"]

    affected = asker.ask("impact", namespace=WORLD, name="orders")
    assert affected["trust"]["verdict"] == "broken"
    assert "report" in {one["name"] for one in affected["answer"]["items"]}
    rows = asker.ask("sql", query=f"SELECT state FROM runs WHERE run_id = '{LOAD}'")
    assert rows["answer"]["rows"] == [["COMPLETED"]]
    assert rows["based_on"]["table_versions"]["runs"] == 0


def test_faults_are_found(asker: Asker) -> None:
    wrong = asker.ask("violations", kind="ledger")
    assert wrong["trust"]["verdict"] == "broken"
    assert UNBALANCED in {one["run_id"] for one in wrong["answer"]["items"]}
    assert all(one["remedy"] for one in wrong["answer"]["items"])
    assert asker.ask("run", run_id=UNBALANCED)["trust"]["verdict"] == "broken"
    few = asker.ask("violations", limit=1, include_resolved=True)
    assert "more than the limit" in few["left_out"][0]
    fresh = asker.ask("freshness")
    assert fresh["trust"]["verdict"] == "unknown", "no checkpoints: newer events may be missing"
    earlier = asker.ask("violations", as_of="2026-01-01T00:00:00Z")
    assert earlier["based_on"]["known"]["at"] == "2026-01-01T00:00:00Z"
    assert "no tables at that time" in earlier["trust"]["reason"]


def test_refusals_say_what_to_do(asker: Asker) -> None:
    assert "Use search" in asker.refused("dataset", namespace=WORLD, name="no\u202esuch")
    assert "\\u202e" in asker.refused("dataset", namespace=WORLD, name="no\u202esuch")
    assert "Use search" in asker.refused("lineage", namespace=WORLD, name="report", column="none")
    assert "Use search" in asker.refused("run", run_id="none")
    assert "not a SELECT" in asker.refused("sql", query="DROP TABLE runs")
    assert "read_text" in asker.refused("sql", query="FROM read_text('/etc/passwd')")
    assert "neither a time nor a version" in asker.refused("search", text="x", as_of="soon")
    assert "limit" in asker.refused("search", text="x", limit=100_000)


def test_hostile_names_are_data(asker: Asker) -> None:
    for name in HOSTILE:
        for tool, values in (
            ("dataset", {"namespace": name, "name": name}),
            ("lineage", {"namespace": name, "name": name}),
            ("lineage", {"namespace": name, "name": name, "column": name}),
            ("impact", {"namespace": name, "name": f"{name} in"}),
            ("job", {"namespace": name, "name": name}),
            ("search", {"text": name[:1000]}),
        ):
            is_error, text = asker.text(tool, **values)
            assert not is_error, text
            assert visible(text) == text, "nothing is invisible"
            assert name in json.dumps(json.loads(text), ensure_ascii=False).encode().decode() or name in _texts(text)


def _texts(document: str) -> set[str]:
    """All texts in a JSON document."""
    found, pending = set(), [json.loads(document)]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return found


def test_an_installation_without_tables(tmp_path: Path) -> None:
    with conversation(tmp_path / "none", tmp_path / "home") as asker:
        for tool in ("violations", "freshness"):
            answer = asker.ask(tool)
            assert answer["trust"]["verdict"] == "unknown"
            assert "no tables yet" in answer["trust"]["reason"]
            assert answer["answer"]["items"] == []
        assert asker.ask("search", text="x")["answer"]["items"] == []
        for tool, values in (("run", {"run_id": "x"}), ("dataset", {"namespace": "n", "name": "x"})):
            assert "lineproof up" in asker.refused(tool, **values)
        rows = asker.ask("sql", query="SELECT count(*) FROM runs")
        assert rows["answer"]["note"] == "There is no table runs yet, so there are no rows."
