"""The layout of graphs: properties that hold for every graph. Nothing is drawn."""

import random
import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lineproof.serving.layout import Arrangement, Layout, Measures, layout

SIZE = Measures()
NAMES = st.text(min_size=1, max_size=6)
Edges = list[tuple[str, str]]


@st.composite
def graphs(draw: st.DrawFn, *, acyclic: bool = False) -> tuple[list[str], Edges]:
    """Connected graphs, with cycles, self-loops, and edges in both directions."""
    nodes = draw(st.lists(NAMES, min_size=1, max_size=25, unique=True))
    edges = []
    for at in range(1, len(nodes)):
        pair = nodes[draw(st.integers(0, at - 1))], nodes[at]
        edges.append(pair if acyclic or draw(st.booleans()) else pair[::-1])
    for _ in range(draw(st.integers(0, 12))):
        one, other = draw(st.integers(0, len(nodes) - 1)), draw(st.integers(0, len(nodes) - 1))
        if not acyclic:
            edges.append((nodes[one], nodes[other]))
        elif one != other:
            edges.append((nodes[min(one, other)], nodes[max(one, other)]))
    return nodes, edges


def assert_readable(drawn: Layout) -> None:
    """No node lies on another one, and no edge crosses a node."""
    boxes = [(x, y, x + SIZE.width, y + SIZE.height) for x, y in drawn.positions.values()]
    for at, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= drawn.width
        assert 0 <= top < bottom <= drawn.height
        for other in boxes[at + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    columns = {box[0] for box in boxes}
    for route in drawn.routes.values():
        for (x1, y1), (x2, y2) in pairwise(route):
            inside = [x for x in columns if min(x1, x2) < x + SIZE.width and max(x1, x2) > x]
            if x1 == x2:
                continue  # a loop beside the column
            assert not inside or y1 == y2, "a curve runs between the columns"
            for left, top, right, bottom in boxes:
                if min(x1, x2) < right and max(x1, x2) > left:
                    assert not top <= y1 <= bottom


@given(graphs())
def test_nothing_overlaps(graph: tuple[list[str], Edges]) -> None:
    nodes, edges = graph
    drawn = layout(nodes[0], nodes, edges)
    assert drawn.positions.keys() == {*nodes}
    assert drawn.routes.keys() == {*edges}
    assert_readable(drawn)
    for (source, target), route in drawn.routes.items():
        middle = SIZE.height / 2
        assert route[0] == (drawn.positions[source][0] + SIZE.width, round(drawn.positions[source][1] + middle, 1))
        assert route[-1] == (drawn.positions[target][0], round(drawn.positions[target][1] + middle, 1))


@given(graphs(acyclic=True), st.data())
def test_without_cycles_every_edge_leads_to_the_right(graph: tuple[list[str], Edges], data: st.DataObject) -> None:
    nodes, edges = graph
    layers = layout(data.draw(st.sampled_from(nodes)), nodes, edges).layers
    assert all(layers[source] < layers[target] for source, target in edges)


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(graph: tuple[list[str], Edges], shuffle: random.Random) -> None:
    nodes, edges = graph
    first = layout(nodes[0], nodes, edges)
    shuffled = shuffle.sample(nodes, len(nodes)), shuffle.sample(edges * 2, len(edges) * 2)
    assert layout(nodes[0], *shuffled) == first


@given(graphs(), st.data())
def test_opened_nodes_leave_the_others_in_place(graph: tuple[list[str], Edges], data: st.DataObject) -> None:
    nodes, edges = graph
    kept = data.draw(st.integers(1, len(nodes)))
    arrangement = Arrangement(nodes[0], nodes[:kept], [edge for edge in edges if {*edge} <= {*nodes[:kept]}])
    for at in range(kept, len(nodes)):
        before = arrangement.layout()
        anchor = data.draw(st.sampled_from(nodes[:at]))
        arrangement.add(anchor, [nodes[at]], edges, upstream=data.draw(st.booleans()))
        after = arrangement.layout()
        assert_readable(after)
        assert after.layers == before.layers | {nodes[at]: after.layers[nodes[at]]}
        assert _without(after, nodes[at]) == before.order


def _without(drawn: Layout, node: str) -> list[list[str]]:
    kept = [[other for other in layer if other != node] for layer in drawn.order]
    return [layer for layer in kept if layer]


def test_a_new_node_at_the_edge_of_the_graph_moves_no_other() -> None:
    """Also when it is drawn from scratch, because the tables have a new job: for graphs as a walk finds them."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    for trial in range(50):
        chosen = random.Random(seed + trial)
        nodes, edges = ["start"], list[tuple[str, str]]()
        upstream, downstream = ["start"], ["start"]
        for at in range(60):
            side = chosen.choice((upstream, downstream))
            node = f"n{chosen.randrange(1000):03}-{at}"
            others = chosen.sample(side, min(2, len(side)))
            edges += [(node, other) if side is upstream else (other, node) for other in others]
            side.append(node)
            nodes.append(node)
        side = chosen.choice((upstream, downstream))
        new, beside = f"n{chosen.randrange(1000):03}", chosen.choice(side)
        edge = (new, beside) if side is upstream else (beside, new)
        before, after = layout("start", nodes, edges), layout("start", [new, *nodes], [edge, *edges])
        assert after.layers == before.layers | {new: after.layers[new]}, (seed, trial)
        assert _without(after, new) == before.order, (seed, trial)


def test_a_graph_without_edges_and_a_single_node() -> None:
    assert layout("a", [], []).positions == {"a": (SIZE.margin, SIZE.margin)}
    assert_readable(layout("a", ["b", "c"], []))


def test_a_cycle_starts_at_the_chosen_node() -> None:
    drawn = layout("b", "abc", [("a", "b"), ("b", "c"), ("c", "a")])
    assert (drawn.layers["a"], drawn.layers["b"], drawn.layers["c"]) == (-1, 0, 1)


def test_a_long_edge_passes_below_or_above_the_nodes_between() -> None:
    drawn = layout("a", "abcd", [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert len(drawn.routes["a", "d"]) == 6
    assert_readable(drawn)


def test_three_thousand_nodes() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chosen = random.Random(seed)
    layers = [[f"{layer:02}-{at:03}" for at in range(150)] for layer in range(20)]
    edges = [
        (chosen.choice(layers[layer - 1]), node)
        for layer in range(1, 20)
        for node in layers[layer]
        for _ in range(chosen.choice((1, 1, 2)))
    ]
    nodes = [node for layer in layers for node in layer]
    began = time.process_time()
    drawn = layout(layers[10][0], nodes, edges)
    print(f"{len(nodes)} nodes, {len(edges)} edges: {time.process_time() - began:.2f} s")
    assert len(drawn.positions) == 3000


def test_a_hub_with_thousands_of_neighbours() -> None:
    leaves = [f"leaf {at}" for at in range(2999)]
    drawn = layout("hub", leaves, [("hub", leaf) for leaf in leaves])
    assert drawn.order == [["hub"], sorted(leaves)]


def test_jobs_that_do_many_things_do_not_stretch_a_large_graph() -> None:
    chain = [f"n{number:03}" for number in range(300)]
    edges = [*pairwise(chain), *(("start", node) for node in chain)]
    drawn = layout("start", chain, edges)
    assert len(drawn.order) < 30
    assert_readable(drawn)
